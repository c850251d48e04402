// The verifiers of one batch of moves: from the next primary, or from a file. Each role is asked for once. Everything
// is overwritten at the end.
import { scheduleAfterReads, type Clock } from '../model/instant.ts';
import type { Address } from '../model/member.ts';
import type { VerifierBatch, VerifierLookup, VerifierPolicy } from '../model/moves.ts';
import { nothing } from '../model/once.ts';
import { shown } from '../model/printable.ts';
import { SourceError, type ConnectToServer, type VerifierSource } from './source.ts';

/**
 * A source that says nothing for this long is given up: another connection may have an answer. A busy source goes on,
 * because a lookup that begins anew costs its host the same once more. Milliseconds.
 */
const SILENCE_MS = 10_000;
/** For one role, the connection included. Milliseconds. */
const LOOKUP_MS = 30_000;

const SCRAM = 'SCRAM-SHA-256$';
const MD5 = 'md5';
const MD5_LENGTH = MD5.length + 32;
/** PostgreSQL 18 keeps no longer one (MAX_ENCRYPTED_PASSWORD_LEN). Bytes. */
const LONGEST = 512;

export function verifierOpener(clock: Clock) {
  return (policy: VerifierPolicy, server: Address, connect: ConnectToServer): VerifierBatch =>
    new Batch((onHeard) => sourceOf(policy, server, connect, onHeard), clock);
}

/** Loaded at the first question, because most programs never ask. */
async function sourceOf(
  policy: VerifierPolicy,
  server: Address,
  connect: ConnectToServer,
  onHeard: () => void,
): Promise<VerifierSource> {
  if (policy.kind === 'file') {
    const { FileSource } = await import('./file-source.ts');
    return new FileSource(policy.file);
  }
  const { QuerySource } = await import('./query-source.ts');
  return new QuerySource(policy, server, connect, onHeard);
}

export class Batch implements VerifierBatch {
  /** `onHeard`: the source has said something. */
  readonly #load: (onHeard: () => void) => Promise<VerifierSource>;
  readonly #clock: Clock;
  readonly #lookups = new Map<string, Promise<VerifierLookup>>();
  readonly #verifiers = new Map<string, Uint8Array>();
  #source: Promise<VerifierSource> | undefined;
  /** Each ends a lookup that the source works on. */
  readonly #limits = new Set<AbortController>();
  #cancelSilence = nothing;
  #isOver = false;

  constructor(load: (onHeard: () => void) => Promise<VerifierSource>, clock: Clock) {
    this.#load = load;
    this.#clock = clock;
  }

  find(role: string): Promise<VerifierLookup> {
    const known = this.#lookups.get(role);
    if (known !== undefined) return known;
    const lookup = this.#lookUp(role);
    this.#lookups.set(role, lookup);
    return lookup;
  }

  forget(role: string): void {
    this.#lookups.delete(role);
    this.#verifiers.get(role)?.fill(0);
    this.#verifiers.delete(role);
  }

  end(): void {
    this.#isOver = true;
    this.#lookups.clear();
    for (const verifier of this.#verifiers.values()) verifier.fill(0);
    this.#verifiers.clear();
    void this.#source?.then((source) => source.close());
  }

  /** A failure is not kept: the server may just have started. */
  async #lookUp(role: string): Promise<VerifierLookup> {
    const lookup = await this.#read(role);
    if (lookup.kind === 'failed') this.#lookups.delete(role);
    return lookup;
  }

  async #read(role: string): Promise<VerifierLookup> {
    if (this.#isOver) return failed('its batch of moves is over');
    const limit = new AbortController();
    const tooLate = (): void => limit.abort(new SourceError(`no answer within ${LOOKUP_MS / 1000} s`));
    const cancel = scheduleAfterReads(this.#clock, LOOKUP_MS, tooLate);
    this.#limits.add(limit);
    if (this.#limits.size === 1) this.#restartSilence();
    try {
      const source = await (this.#source ??= this.#load(() => this.#restartSilence()));
      const answer = await source.read(role, limit.signal);
      return answer.kind === 'found' ? this.#take(role, answer.verifier) : { kind: 'refused', why: answer.why };
    } catch (error) {
      return failed(error instanceof SourceError ? error.message : 'an unexpected fault of Pointsman');
    } finally {
      cancel();
      this.#limits.delete(limit);
      if (this.#limits.size === 0) this.#cancelSilence();
    }
  }

  #restartSilence(): void {
    this.#cancelSilence();
    if (this.#limits.size > 0) {
      this.#cancelSilence = scheduleAfterReads(this.#clock, SILENCE_MS, () => this.#isSilent());
    }
  }

  #isSilent(): void {
    for (const limit of this.#limits) limit.abort(new SourceError(`silent for ${SILENCE_MS / 1000} s`));
  }

  #take(role: string, verifier: Uint8Array): VerifierLookup {
    if (!this.#isOver && isVerifier(verifier)) {
      this.#verifiers.set(role, verifier);
      return { kind: 'found', verifier };
    }
    verifier.fill(0);
    if (this.#isOver) return failed('its batch of moves is over');
    const why = `what is stored for role "${shown(role)}" is neither a SCRAM-SHA-256 verifier nor an md5 hash`;
    return { kind: 'refused', why };
  }
}

function failed(why: string): VerifierLookup {
  return { kind: 'failed', why };
}

/** By its beginning: wire/ reads the rest. */
function isVerifier(verifier: Uint8Array): boolean {
  if (hasPrefix(verifier, SCRAM)) return verifier.length > SCRAM.length && verifier.length <= LONGEST;
  return hasPrefix(verifier, MD5) && verifier.length === MD5_LENGTH && verifier.subarray(MD5.length).every(isHex);
}

function hasPrefix(bytes: Uint8Array, prefix: string): boolean {
  return Buffer.from(prefix).equals(bytes.subarray(0, prefix.length));
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
}
