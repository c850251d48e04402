// Helpers for client and backend sockets: their options, addresses as text, and the ways to end one at once.
import { errorCode } from '../model/errno.ts';
import { addressText } from '../model/member.ts';
import { nothing } from '../model/once.ts';
import { LOCAL_CLIENT } from '../model/unix-socket.ts';

/**
 * A connection as the proxy uses it: a socket of Node, or a plain one (plain/plain-socket.ts), which does the
 * same.
 */
export interface ProxySocket {
  on(event: 'data', listener: (bytes: Uint8Array) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: SocketMoment, listener: () => void): this;
  once(event: 'error', listener: (error: Error) => void): this;
  once(event: SocketMoment, listener: () => void): this;
  off(event: 'data', listener: (bytes: Uint8Array) => void): this;
  off(event: 'error', listener: (error: Error) => void): this;
  off(event: SocketMoment, listener: () => void): this;
  /** False: the kernel has not taken all of it, and `drain` follows. */
  write(bytes: Uint8Array): boolean;
  /** Half-closes behind the bytes. */
  end(bytes: Uint8Array): this;
  end(onFinish?: () => void): this;
  destroy(error?: Error): unknown;
  destroySoon(): void;
  resetAndDestroy(): unknown;
  pause(): this;
  resume(): this;
  isPaused(): boolean;
  /** As if they came from the peer. False: the reader has enough. */
  push(bytes: Uint8Array): boolean;
  /** Before all that is still to be read. */
  unshift(bytes: Uint8Array): void;
  setKeepAlive(isOn: boolean, idleMs: number): this;
  readonly bytesRead: number;
  readonly closed: boolean;
  readonly connecting: boolean;
  readonly destroyed: boolean;
  readonly readableEnded: boolean;
  readonly readableLength: number;
  readonly writable: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** The events without a value. */
export type SocketMoment = 'close' | 'connect' | 'drain' | 'end' | 'finish';

/**
 * Half-close is passed on, so neither socket may end itself. A write that the kernel does not take at once is
 * back-pressure already, so at most one read waits in this process.
 */
export const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  highWaterMark: 1,
  noDelay: true,
} as const;

/** Undefined: a peer that vanishes without bytes on the way is not found. */
export function keepAlive(socket: ProxySocket, idleMs: number | undefined): void {
  if (idleMs !== undefined) socket.setKeepAlive(true, idleMs);
}

/** Clients of Unix sockets. */
const locals = new WeakSet<ProxySocket>();

export function markLocal(socket: ProxySocket): void {
  locals.add(socket);
}

/** The client is on this host, and came by a Unix socket. */
export function isLocal(socket: ProxySocket): boolean {
  return locals.has(socket);
}

/** The peer's address; `unknown` if the peer has left already. */
export function peerText(socket: ProxySocket): string {
  if (isLocal(socket)) return LOCAL_CLIENT;
  const { remoteAddress, remotePort } = socket;
  return remoteAddress === undefined || remotePort === undefined
    ? 'unknown'
    : addressText({ host: remoteAddress, port: remotePort });
}

/** The TCP socket under each TLS socket of Pointsman: a client's that it answers, or a backend's. */
const carriers = new WeakMap<ProxySocket, ProxySocket>();

export function carry(socket: ProxySocket, carrier: ProxySocket): void {
  carriers.set(socket, carrier);
}

/** The TCP socket itself. */
export function carrierOf(socket: ProxySocket): ProxySocket {
  return carriers.get(socket) ?? socket;
}

/** Whether one end of the TLS is here. TLS between a client and its server is only bytes. */
export function isTls(socket: ProxySocket): boolean {
  return carriers.has(socket);
}

/** `TLSv1.3`; undefined if Pointsman does not answer the client's TLS. */
export function tlsVersion(socket: ProxySocket): string | undefined {
  if (!isTls(socket) || !('getProtocol' in socket) || typeof socket.getProtocol !== 'function') return undefined;
  return String(socket.getProtocol());
}

/**
 * Closes a connection at once with a reset: bytes that the kernel has not sent yet are dropped. libuv cannot reset
 * while a FIN is being sent, and would leak the handle, so an ordinary close has to do then. A TLS socket is reset
 * through its carrier. A Unix socket knows no reset.
 */
export function resetSocket(socket: ProxySocket): void {
  if (socket.destroyed) return;
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding || socket.connecting || isLocal(socket)) socket.destroy();
  else carrierOf(socket).resetAndDestroy();
}

/**
 * Closes a connection at once without a reset. TLS needs its closing alert, or libpq takes the end of a cancel request
 * for a failure. The alert is sent synchronously or not at all.
 */
export function closeSocket(socket: ProxySocket): void {
  if (isTls(socket) && socket.writable && socket.writableLength === 0) socket.end();
  socket.destroy();
}

/** The kernel has given up: no acknowledgement of bytes or keepalives. */
export function hasVanished(error: Error | undefined): boolean {
  return errorCode(error) === 'ETIMEDOUT';
}

/** Node throws on an `error` event without a listener. `close` follows each error and is what counts. */
export function ignoreErrors(socket: ProxySocket): void {
  socket.on('error', nothing);
}

const TERMINATE = Uint8Array.of(0x58, 0, 0, 0, 4);

/** Ends a session between two transactions as its client would, so that the server reports nothing. */
export function sayGoodbye(backend: ProxySocket): void {
  ignoreErrors(backend);
  backend.end(TERMINATE);
  backend.destroySoon();
}
