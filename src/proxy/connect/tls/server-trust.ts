// TLS to servers is set up with the authorities that it trusts (a file, or the system's), the list of revoked
// certificates, and Pointsman's own certificate. The files are read again at a connect, so that rotated ones count, and
// the context is made again only for another content. While a file cannot be used, the last good content of all stays
// in use.
import type { SecureContext } from 'node:tls';
import type { Instant } from '../../../model/instant.ts';
import type { MemberTls } from '../../../model/member-tls.ts';
import type { ProxyDependencies } from '../../options.ts';
import { nodeTls } from '../../startup/tls-handshake.ts';

export interface ServerTrustOptions extends Pick<ProxyDependencies, 'clock' | 'readPem' | 'readKeyPair' | 'onEvent'> {
  /** For messages: `branches.backends`. */
  readonly section: string;
  /** The files are not read again for so long. Milliseconds. */
  readonly validMs: number;
  /** OpenSSL overwrites decrypted bytes that it has passed on, before it frees their buffer. */
  readonly cleanses?: boolean;
}

export type TrustFiles = Pick<MemberTls, 'caFile' | 'crlFile' | 'pair' | 'minVersion'>;

export type Trust =
  | { readonly kind: 'trusted'; readonly context: SecureContext }
  /** The files were never usable. Clients read this: it has no path. */
  | { readonly kind: 'unusable'; readonly why: string };

interface TrustTexts {
  readonly ca: string | undefined;
  readonly crl: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

interface Current {
  readonly files: TrustFiles;
  readonly texts: TrustTexts;
  readonly context: SecureContext;
}

interface FileFault {
  readonly key: string;
  readonly file: string;
  readonly why: string;
}

export class ServerTrust {
  readonly #options: ServerTrustOptions;
  /** The newest read of the files. */
  #last: { readonly files: TrustFiles; readonly at: Instant; readonly trust: Promise<Trust> } | undefined;
  #current: Current | undefined;
  /** The fault of the newest content of the files. */
  #problem: string | undefined;

  constructor(options: ServerTrustOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  get(files: TrustFiles): Promise<Trust> {
    const { clock, validMs } = this.#options;
    const last = this.#last;
    if (last !== undefined && isSame(last.files, files) && clock.now() - last.at < validMs) return last.trust;
    const trust = this.#get(files);
    this.#last = { files, at: clock.now(), trust };
    return trust;
  }

  async #get(files: TrustFiles): Promise<Trust> {
    const { section, onEvent } = this.#options;
    const reading = await this.#read(files);
    if (!('why' in reading)) {
      this.#problem = undefined;
      return this.#with(files, reading);
    }
    const { key, file, why } = reading;
    if (this.#current === undefined || !isSame(this.#current.files, files)) {
      return { kind: 'unusable', why: `${section}.${key} ${why}` };
    }
    const problem = `${section}.${key} ${file} ${why}`;
    if (this.#problem !== problem) onEvent({ kind: 'certificate_refused', why: problem });
    this.#problem = problem;
    return { kind: 'trusted', context: this.#current.context };
  }

  async #read({ caFile, crlFile, pair }: TrustFiles): Promise<TrustTexts | FileFault> {
    const { readPem, readKeyPair } = this.#options;
    const [ca, crl, own] = await Promise.all([
      caFile === undefined ? undefined : readPem(caFile, 'certificates'),
      crlFile === undefined ? undefined : readPem(crlFile, 'revocations'),
      pair && readKeyPair(pair),
    ]);
    if (ca?.kind === 'unusable') return { key: 'ca_file', file: caFile ?? '', why: ca.why };
    if (crl?.kind === 'unusable') return { key: 'crl_file', file: crlFile ?? '', why: crl.why };
    if (own?.kind === 'unusable') return { key: own.file, file: pair?.[own.file] ?? '', why: own.why };
    return { ca: ca?.text, crl: crl?.text, cert: own?.cert, key: own?.key };
  }

  #with(files: TrustFiles, texts: TrustTexts): Trust {
    if (this.#current === undefined || !isSame(this.#current.files, files) || !isSame(this.#current.texts, texts)) {
      this.#current = { files, texts, context: contextOf(files, texts, this.#options.cleanses === true) };
    }
    return { kind: 'trusted', context: this.#current.context };
  }
}

/**
 * With `*`: the groups for which the handshake begins with a key. PostgreSQL takes one of them unless `ssl_groups` says
 * otherwise (prime256v1 alone before 18), so that no second hello is necessary. A key of ML-KEM stays with the session.
 */
const GROUPS = '*X25519:*P-256:X25519MLKEM768:X448:P-384:P-521';

/** SSL_OP_CLEANSE_PLAINTEXT of OpenSSL. Node has no name for it. */
const CLEANSE_PLAINTEXT = 0x2;

function contextOf({ minVersion }: TrustFiles, { ca, ...texts }: TrustTexts, cleanses: boolean): SecureContext {
  const authorities = ca ?? systemAuthorities();
  const secureOptions = cleanses ? CLEANSE_PLAINTEXT : 0;
  return nodeTls().createSecureContext({ ...texts, ca: authorities, minVersion, ecdhCurve: GROUPS, secureOptions });
}

/** A small container image may have none; Node has a list of its own. */
function systemAuthorities(): string[] {
  const { getCACertificates } = nodeTls();
  const system = getCACertificates('system');
  return [...(system.length > 0 ? system : getCACertificates('bundled')), ...getCACertificates('extra')];
}

function isSame<Values extends TrustFiles | TrustTexts>(one: Values, other: Values): boolean {
  if (one === other) return true;
  const [a, b] = [Object.entries(one), new Map(Object.entries(other))];
  return a.length === b.size && a.every(([key, value]) => b.get(key) === value);
}
