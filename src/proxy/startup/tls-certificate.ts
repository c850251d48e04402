// The certificate for clients whose TLS Pointsman answers. Its files are read again at intervals, which sees every way
// of replacing them (a Kubernetes secret is rotated by a symbolic link). New handshakes use the new pair. While the
// files hold no usable pair, the last good one stays in use.
import type { CertificateStatus } from '../../reports/counts.ts';
import type { ProxyDependencies } from '../options.ts';
import type { SecureContext } from 'node:tls';
import type { KeyPair, KeyPairFiles, KeyPairReading } from '../../model/key-pair.ts';
import { nothing } from '../../model/once.ts';
import type { ClientTls } from '../../model/policy.ts';
import { tlsContext } from './tls-handshake.ts';

export type TlsIdentityOptions = Pick<ProxyDependencies, 'clock' | 'readKeyPair' | 'onEvent'>;

/** TLS that Pointsman answers. */
export interface OwnTls {
  readonly isRequired: boolean;
  /** Undefined: a request for TLS is declined. */
  readonly context: SecureContext | undefined;
}

/** On a Unix socket PostgreSQL has no encryption, and requires none. */
export const NO_TLS: OwnTls = { isRequired: false, context: undefined };

export type PreparedIdentity =
  | { readonly kind: 'prepared'; readonly apply: () => void }
  | { readonly kind: 'failed'; readonly message: string };

interface Identity {
  readonly files: KeyPairFiles;
  readonly isRequired: boolean;
  pair: KeyPair;
  context: SecureContext;
  /** The fault of the newest content of the files; undefined if it is the pair in use. */
  problem: string | undefined;
}

const REREAD_MS = 5_000;

export class TlsIdentity {
  readonly #options: TlsIdentityOptions;
  #identity: Identity | undefined;
  #cancelReread = nothing;

  constructor(options: TlsIdentityOptions) {
    this.#options = options;
  }

  /** Reads the files that `tls` names. Nothing changes until `apply`. */
  async prepare(tls: ClientTls): Promise<PreparedIdentity> {
    if (tls.mode === 'passthrough') return { kind: 'prepared', apply: () => this.#adopt(undefined) };
    const { cert, key, mode } = tls;
    const files = { cert, key };
    const reading = await this.#options.readKeyPair(files);
    if (reading.kind === 'unusable') return { kind: 'failed', message: `client.tls: ${problemText(files, reading)}` };
    const isRequired = mode === 'require';
    const identity = { files, isRequired, pair: reading, context: tlsContext(reading), problem: undefined };
    return { kind: 'prepared', apply: () => this.#adopt(identity) };
  }

  /** Undefined: TLS is between clients and members. */
  own(): OwnTls | undefined {
    return this.#identity;
  }

  status(): CertificateStatus | undefined {
    if (this.#identity === undefined) return undefined;
    const { files, pair, problem } = this.#identity;
    return { file: files.cert, expiresAt: pair.expiresAt, isCurrent: problem === undefined };
  }

  /** Live sessions keep their certificate. */
  stop(): void {
    this.#cancelReread();
    this.#identity = undefined;
  }

  #adopt(next: Identity | undefined): void {
    const before = this.#identity;
    this.stop();
    this.#identity = next;
    if (next === undefined) return;
    if (before === undefined || !isSamePair(before.pair, next.pair)) this.#reportLoaded(next);
    this.#scheduleReread(next);
  }

  #scheduleReread(identity: Identity): void {
    this.#cancelReread = this.#options.clock.schedule(REREAD_MS, () => void this.#reread(identity));
  }

  async #reread(identity: Identity): Promise<void> {
    const reading = await this.#options.readKeyPair(identity.files);
    if (this.#identity !== identity) return;
    if (reading.kind === 'unusable') {
      const problem = problemText(identity.files, reading);
      if (problem !== identity.problem) this.#options.onEvent({ kind: 'certificate_refused', why: problem });
      identity.problem = problem;
    } else {
      identity.problem = undefined;
      if (!isSamePair(identity.pair, reading)) {
        Object.assign(identity, { pair: reading, context: tlsContext(reading) });
        this.#reportLoaded(identity);
      }
    }
    this.#scheduleReread(identity);
  }

  #reportLoaded({ files, pair: { expiresAt } }: Identity): void {
    this.#options.onEvent({ kind: 'certificate_loaded', file: files.cert, expiresAt });
  }
}

function problemText(files: KeyPairFiles, { file, why }: Extract<KeyPairReading, { kind: 'unusable' }>): string {
  return `${files[file]} ${why}`;
}

function isSamePair(a: KeyPair, b: KeyPair): boolean {
  return a.cert === b.cert && a.key === b.key;
}
