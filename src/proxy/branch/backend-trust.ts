// The authorities that TLS to branch backends trusts: those of `branches.backends.ca_file`, or the system's. The file
// is read at each connect, so that a rotated one counts at once, and the context is made again only for another
// content. While the file cannot be used, its last good content stays in use.
import type { SecureContext } from 'node:tls';
import type { ReadAuthorities } from '../../model/authority.ts';
import type { ProxyEvent } from '../../reports/events.ts';
import { nodeTls } from '../startup/tls-handshake.ts';

export interface BackendTrustOptions {
  readonly readAuthorities: ReadAuthorities;
  readonly onEvent: (event: ProxyEvent) => void;
}

export type Trust =
  | { readonly kind: 'trusted'; readonly context: SecureContext }
  /** The file was never usable. */
  | { readonly kind: 'unusable'; readonly why: string };

interface Current {
  readonly file: string | undefined;
  readonly text: string | undefined;
  readonly context: SecureContext;
}

export class BackendTrust {
  readonly #options: BackendTrustOptions;
  #current: Current | undefined;
  /** The fault of the newest content of the file. */
  #problem: string | undefined;

  constructor(options: BackendTrustOptions) {
    this.#options = options;
  }

  /** Undefined `file`: the authorities of the system. Never rejects. */
  async get(file: string | undefined): Promise<Trust> {
    if (file === undefined) return this.#with(undefined, undefined);
    const reading = await this.#options.readAuthorities(file);
    if (reading.kind === 'authorities') {
      this.#problem = undefined;
      return this.#with(file, reading.text);
    }
    // Clients read this: without the path.
    if (this.#current?.file !== file) return { kind: 'unusable', why: `branches.backends.ca_file ${reading.why}` };
    const why = `branches.backends.ca_file ${file} ${reading.why}`;
    if (this.#problem !== why) this.#options.onEvent({ kind: 'certificate_refused', why });
    this.#problem = why;
    return { kind: 'trusted', context: this.#current.context };
  }

  #with(file: string | undefined, text: string | undefined): Trust {
    if (this.#current === undefined || this.#current.file !== file || this.#current.text !== text) {
      this.#current = { file, text, context: contextOf(text) };
    }
    return { kind: 'trusted', context: this.#current.context };
  }
}

/** At least TLS 1.2, as PostgreSQL and libpq. */
function contextOf(text: string | undefined): SecureContext {
  return nodeTls().createSecureContext({ ca: text ?? systemAuthorities(), minVersion: 'TLSv1.2' });
}

/** A small container image may have none; Node has a list of its own. */
function systemAuthorities(): string[] {
  const { getCACertificates } = nodeTls();
  const system = getCACertificates('system');
  return [...(system.length > 0 ? system : getCACertificates('bundled')), ...getCACertificates('extra')];
}
