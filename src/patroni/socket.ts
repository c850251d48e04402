// The socket of one request. It connects to the checked address, whatever the URL's name resolves to now. It is never
// shared, kept alive or opened ahead, and its owner destroys it.
import { createRequire } from 'node:module';
import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import type * as Tls from 'node:tls';
import type { ApiEndpoint } from '../model/member.ts';
import { tcpTarget } from '../model/tcp-target.ts';

/** Node's TLS takes 5 MB: loaded with the first https API. */
const load = createRequire(import.meta.url);

/** An ordinary answer is one. */
const PIECE_BYTES = 4 * 1024;

/** TLS settings for https endpoints, as PEM text. */
export interface TlsMaterial {
  readonly ca?: string;
  /** With `key`: the client certificate, for APIs that require one. */
  readonly cert?: string;
  readonly key?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
}

/**
 * Starts to connect, for at most `connectMs` milliseconds. `secureConnect` (https) or `connect` is emitted when the
 * socket is ready.
 */
export function openSocket(api: ApiEndpoint, tls: TlsMaterial, connectMs: number): Socket {
  const target = tcpTarget(api.address, connectMs);
  if (!isHttps(api)) return inPieces(connect({ ...target, noDelay: true }));
  // RFC 6066: a server name has no final dot.
  const name = new URL(api.url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const { insecure = false, ...credentials } = tls;
  const tlsOfNode: typeof Tls = load('node:tls');
  const socket = tlsOfNode.connect({
    ...target,
    ...credentials,
    rejectUnauthorized: !insecure,
    // RFC 6066: an IP address is no server name. Without one, the certificate is compared with `host`.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: ['http/1.1'],
  });
  return inPieces(socket);
}

/**
 * The parser of undici reads a piece to its end, also beyond its limit of headers. For headers without values that
 * takes time by the square of the piece: 0.3 s for what arrives at one time.
 */
function inPieces(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  socket.read = (size = Math.min(PIECE_BYTES, socket.readableLength)): unknown =>
    socket.destroyed ? null : read(size === 0 ? undefined : size);
  return socket;
}

export function isHttps(api: ApiEndpoint): boolean {
  return api.url.startsWith('https:');
}
