// The few things every socket here needs: the same options on both legs, addresses as text, and an end without courtesy.
import type { Socket } from 'node:net';
import { addressText } from '../model/member.ts';

/**
 * Half-close is passed on, so neither leg may end itself; keepalive finds peers that vanished. A write that the kernel does not
 * take at once is back-pressure already: what waits here is one read and no more.
 */
export const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  highWaterMark: 1,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
} as const;

/** The peer's address; `unknown` when it has already gone. */
export function peerText(socket: Socket): string {
  const { remoteAddress, remotePort } = socket;
  return remoteAddress === undefined || remotePort === undefined
    ? 'unknown'
    : addressText({ host: remoteAddress, port: remotePort });
}

/** What carries the bytes of a TLS socket of ours. */
const carriers = new WeakMap<Socket, Socket>();

export function carry(socket: Socket, carrier: Socket): void {
  carriers.set(socket, carrier);
}

/** TLS as ours; what a client and its server have between them is bytes. */
export function isTls(socket: Socket): boolean {
  return carriers.has(socket);
}

/**
 * Ends a connection at once with a reset: what the kernel has not yet sent is not sent any more.
 * libuv refuses to reset while a FIN is on its way down and would leak the handle; an ordinary end is all that is left then.
 * Of a TLS socket only the carrier can be reset; it takes the TLS socket with it.
 */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding || socket.connecting) socket.destroy();
  else (carriers.get(socket) ?? socket).resetAndDestroy();
}

/**
 * Ends a connection at once without a reset. In TLS the end itself is said, or libpq takes the end of a cancel request for a
 * failure; it goes down in this step, or not at all.
 */
export function closeSocket(socket: Socket): void {
  if (isTls(socket) && socket.writable && socket.writableLength === 0) socket.end();
  socket.destroy();
}

const ignored = (): void => {};

/** Node throws on an `error` event that nobody listens to; what matters of it also arrives as `close`. */
export function ignoreErrors(socket: Socket): void {
  socket.on('error', ignored);
}
