// The socket of one request. It connects to the checked address, whatever the URL's name resolves to now. It is never
// shared, kept alive or opened ahead, and its owner destroys it.
import { createRequire } from 'node:module';
import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import type * as Tls from 'node:tls';
import type { ApiEndpoint } from '../model/member.ts';

/** Node's TLS takes 5 MB: loaded with the first https API. */
const load = createRequire(import.meta.url);

/** TLS settings for https endpoints, as PEM text. */
export interface ApiTls {
  readonly ca?: string;
  /** With `key`: the client certificate, for APIs that require one. */
  readonly cert?: string;
  readonly key?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
}

/** Starts to connect. `secureConnect` (https) or `connect` is emitted when the socket is ready. */
export function openSocket(api: ApiEndpoint, tls: ApiTls): Socket {
  const { host, port } = api.address;
  if (!isHttps(api)) return connect({ host, port, noDelay: true });
  // RFC 6066: a server name has no final dot.
  const name = new URL(api.url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const { insecure = false, ...credentials } = tls;
  const tlsOfNode: typeof Tls = load('node:tls');
  return tlsOfNode.connect({
    host,
    port,
    ...credentials,
    rejectUnauthorized: !insecure,
    // RFC 6066: an IP address is no server name. Without one, the certificate is compared with `host`.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: ['http/1.1'],
  });
}

export function isHttps(api: ApiEndpoint): boolean {
  return api.url.startsWith('https:');
}
