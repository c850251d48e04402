// The socket of one exchange: never shared, kept alive or opened ahead. Its owner destroys it.
import { createRequire } from 'node:module';
import { connect, isIP, type Socket } from 'node:net';
import type * as Tls from 'node:tls';
import type { TcpTarget } from '../model/tcp-target.ts';

/** Node's TLS takes 5 MB: loaded with the first https API. */
const load = createRequire(import.meta.url);

/** An ordinary answer is one. */
const PIECE_BYTES = 4 * 1024;

/** TLS settings for https, as PEM text. */
export interface TlsMaterial {
  readonly ca?: string;
  /** With `key`: the client certificate, for APIs that require one. */
  readonly cert?: string;
  readonly key?: string;
  /** Accept any certificate. */
  readonly insecure?: boolean;
}

export interface SocketTarget {
  /** Begins with `http:` or `https:`. */
  readonly url: string;
  /** The address that was checked, whatever the URL's name resolves to now. Absent: the URL's. */
  readonly target?: TcpTarget | undefined;
  /** Absent: Node's defaults. */
  readonly tls?: TlsMaterial | undefined;
}

/** Starts to connect. `onReady` is called once, with TLS at its end; `onConnected` when TCP is connected. */
export function openSocket(
  { url, target, tls = {} }: SocketTarget,
  onConnected: (() => void) | undefined,
  onReady: (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
): Socket {
  const { protocol, hostname, port } = new URL(url);
  const isHttps = protocol === 'https:';
  // RFC 6066: a server name has no final dot.
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const to = target ?? { host: name, port: Number(port === '' ? (isHttps ? 443 : 80) : port) };
  const socket = inPieces(isHttps ? openTls(to, name, tls) : connect({ ...to, noDelay: true }));
  if (onConnected !== undefined) socket.once('connect', onConnected);
  const fail = (error: Error): void => onReady(error, null);
  socket.once('error', fail);
  socket.once(isHttps ? 'secureConnect' : 'connect', () => {
    socket.off('error', fail);
    onReady(null, socket);
  });
  // An error after the end has no owner.
  return socket.on('error', () => {});
}

function openTls(target: TcpTarget, name: string, { insecure = false, ...credentials }: TlsMaterial): Socket {
  const tlsOfNode: typeof Tls = load('node:tls');
  return tlsOfNode.connect({
    ...target,
    ...credentials,
    rejectUnauthorized: !insecure,
    // RFC 6066: an IP address is no server name. Without one, the certificate is compared with `host`.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ALPNProtocols: ['http/1.1'],
  });
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
