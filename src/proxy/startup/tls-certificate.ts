// The certificate with which clients are answered whose TLS is ours. Its files are read again now and then, whatever is done to them
// (a Kubernetes secret is rotated by a symbolic link): new handshakes use a new pair, and while there is none that can be used the
// last good one stays.
import type { SecureContext } from 'node:tls';
import type { ProxyEvent } from '../../reports/events.ts';
import type { Clock } from '../../model/instant.ts';
import type { KeyPair, KeyPairFiles, KeyPairReading } from '../../model/key-pair.ts';
import type { ClientTls } from '../../model/policy.ts';
import { tlsContext } from './tls-handshake.ts';

export interface TlsIdentityInputs {
  readonly clock: Clock;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  readonly onEvent: (event: ProxyEvent) => void;
}

/** TLS with a client as ours. */
export interface OwnTls {
  readonly isRequired: boolean;
  readonly context: SecureContext;
}

/** What is shown of the pair in use. */
export interface CertificateStatus {
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** False while the files hold something that cannot be used. */
  readonly isCurrent: boolean;
}

export type PreparedIdentity =
  | { readonly kind: 'prepared'; readonly apply: () => void }
  | { readonly kind: 'failed'; readonly message: string };

interface Identity {
  readonly files: KeyPairFiles;
  readonly isRequired: boolean;
  pair: KeyPair;
  context: SecureContext;
  /** Why the files' newest content is not the pair in use. */
  problem: string | undefined;
}

const REREAD_MS = 5_000;

const nothing = (): void => {};

export class TlsIdentity {
  readonly #inputs: TlsIdentityInputs;
  #identity: Identity | undefined;
  #cancelReread = nothing;

  constructor(inputs: TlsIdentityInputs) {
    this.#inputs = inputs;
  }

  /** Reads the files that `tls` names. Nothing changes before `apply`. */
  async prepare(tls: ClientTls): Promise<PreparedIdentity> {
    if (tls.mode === 'passthrough') return { kind: 'prepared', apply: () => this.#adopt(undefined) };
    const { cert, key, mode } = tls;
    const files = { cert, key };
    const reading = await this.#inputs.readKeyPair(files);
    if (reading.kind === 'unusable') return { kind: 'failed', message: `client.tls: ${problemText(files, reading)}` };
    const isRequired = mode === 'require';
    const identity = { files, isRequired, pair: reading, context: tlsContext(reading), problem: undefined };
    return { kind: 'prepared', apply: () => this.#adopt(identity) };
  }

  /** Undefined: TLS is the members'. */
  own(): OwnTls | undefined {
    return this.#identity;
  }

  status(): CertificateStatus | undefined {
    if (this.#identity === undefined) return undefined;
    const { files, pair, problem } = this.#identity;
    return { file: files.cert, expiresAt: pair.expiresAt, isCurrent: problem === undefined };
  }

  /** Live sessions stay as they are. */
  stop(): void {
    this.#cancelReread();
    this.#identity = undefined;
  }

  #adopt(next: Identity | undefined): void {
    const before = this.#identity;
    this.stop();
    this.#identity = next;
    if (next === undefined) return;
    if (before === undefined || !isSamePair(before.pair, next.pair)) this.#tellLoaded(next);
    this.#wait(next);
  }

  #wait(identity: Identity): void {
    this.#cancelReread = this.#inputs.clock.schedule(REREAD_MS, () => void this.#reread(identity));
  }

  async #reread(identity: Identity): Promise<void> {
    const reading = await this.#inputs.readKeyPair(identity.files);
    if (this.#identity !== identity) return;
    if (reading.kind === 'unusable') {
      const problem = problemText(identity.files, reading);
      if (problem !== identity.problem) this.#inputs.onEvent({ kind: 'certificate_refused', why: problem });
      identity.problem = problem;
    } else {
      identity.problem = undefined;
      if (!isSamePair(identity.pair, reading)) this.#replace(identity, reading);
    }
    this.#wait(identity);
  }

  #replace(identity: Identity, pair: KeyPair): void {
    identity.pair = pair;
    identity.context = tlsContext(pair);
    this.#tellLoaded(identity);
  }

  #tellLoaded({ files, pair: { expiresAt } }: Identity): void {
    this.#inputs.onEvent({ kind: 'certificate_loaded', file: files.cert, expiresAt });
  }
}

function problemText(files: KeyPairFiles, { file, why }: Extract<KeyPairReading, { kind: 'unusable' }>): string {
  return `${files[file]} ${why}`;
}

function isSamePair(a: KeyPair, b: KeyPair): boolean {
  return a.cert === b.cert && a.key === b.key;
}
