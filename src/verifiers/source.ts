// A place that has verifiers, as a batch uses it.
import type { Duplex } from 'node:stream';

/** `why` is for people and holds no secret. */
export type VerifierAnswer =
  | { readonly kind: 'found'; readonly verifier: Uint8Array }
  | { readonly kind: 'none'; readonly why: string };

export interface VerifierSource {
  /**
   * Rejects with a SourceError when there is no answer, and soon after `signal` was aborted. The caller overwrites the
   * verifier.
   */
  read(role: string, signal: AbortSignal): Promise<VerifierAnswer>;
  /** Ends what is under way, and overwrites what it has. */
  close(): void;
}

/** A connection to the server of the source, with TLS where the members want it. Rejects with words for people. */
export type ConnectToServer = (signal: AbortSignal) => Promise<Duplex>;

/** Its message is for people and holds no secret. */
export class SourceError extends Error {}
