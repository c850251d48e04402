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
  if (tls === undefined) return '';
  // Pointsman's certificate is not the member's, and a client that binds its login to one fails at the other.
  const parameters = { sslmode: 'verify-full', sslrootcert: tls.caFile, channel_binding: 'disable' };
  return `?${Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')}`;
}

/** As one word of a shell. */
export function quoted(url: string): string {
  return url.includes('&') ? `'${url}'` : url;
}
