// Connection URLs of the sandbox's servers and of the Pointsman in front of them, for psql and for pg. Pure.
import type { SandboxTls } from '../sandbox.ts';

export interface UrlLogin {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** `address`: host:port. */
export function connectionUrl({ user, password, database }: UrlLogin, address: string, tls?: SandboxTls): string {
  return `postgresql://${user}:${encodeURIComponent(password)}@${address}/${database}${tlsParameters(tls)}`;
}

/** With `?`; empty without TLS. */
function tlsParameters(tls: SandboxTls | undefined): string {
  return tls === undefined ? '' : `?sslmode=verify-full&sslrootcert=${tls.caFile}`;
}

/** As one word of a shell. */
export function quoted(url: string): string {
  return url.includes('&') ? `'${url}'` : url;
}
