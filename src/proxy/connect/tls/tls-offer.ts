// A server shows to anybody whether it offers TLS, and its certificate. Nothing is verified here, so nothing of a
// client or of a login uses such a connection: it is for reports alone.
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import type { X509Certificate } from 'node:crypto';
import type { Address } from '../../../model/member.ts';
import { tcpTarget } from '../../../model/tcp-target.ts';
import { NOT_SUPPORTED, SUPPORTED } from '../../../wire/messages/error-response.ts';
import { SSL_REQUEST_PACKET } from '../../../wire/startup/startup.ts';
import { ignoreErrors } from '../../socket.ts';
import { ALPN_PROTOCOL, nodeTls } from '../../startup/tls-handshake.ts';

export type TlsOffer =
  | { readonly kind: 'offered'; readonly certificate: X509Certificate }
  /** It says so. */
  | { readonly kind: 'none' }
  /** It gives no answer, or none of a PostgreSQL server. */
  | { readonly kind: 'unknown' };

/** `name` is sent as the server name (SNI). Never rejects, and settles within the limit. Milliseconds. */
export async function tlsOffer(address: Address, name: string, limitMs: number): Promise<TlsOffer> {
  const signal = AbortSignal.timeout(limitMs);
  const socket = connect(tcpTarget(address, limitMs));
  ignoreErrors(socket);
  // A server that closes the connection must not cost the whole limit.
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  try {
    return await ask(socket, name, AbortSignal.any([signal, closed.signal]));
  } catch {
    return { kind: 'unknown' };
  } finally {
    socket.destroy();
  }
}

async function ask(socket: Socket, name: string, signal: AbortSignal): Promise<TlsOffer> {
  await once(socket, 'connect', { signal });
  socket.write(SSL_REQUEST_PACKET);
  await once(socket, 'readable', { signal });
  const answer: unknown = socket.read(1);
  const byte = answer instanceof Uint8Array ? answer[0] : undefined;
  if (byte === NOT_SUPPORTED[0]) return { kind: 'none' };
  if (byte !== SUPPORTED[0]) return { kind: 'unknown' };
  const secured = nodeTls().connect({
    socket,
    servername: isIP(name) === 0 ? name.replace(/\.$/, '') : '',
    rejectUnauthorized: false,
    ALPNProtocols: [ALPN_PROTOCOL],
  });
  ignoreErrors(secured);
  await once(secured, 'secureConnect', { signal });
  const certificate = secured.getPeerX509Certificate();
  return certificate === undefined ? { kind: 'unknown' } : { kind: 'offered', certificate };
}
