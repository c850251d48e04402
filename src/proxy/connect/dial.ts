// Opens one TCP connection to one member, with one deadline. Reports exactly once, synchronously with the event that
// decides it, and nothing after an abort. Tells faults of the member from faults of this machine (G12).
import { isIP, Socket, type SocketConstructorOpts } from 'node:net';
import { errnoCause, errnoText, errorCode } from '../../model/errno.ts';
import { scheduleAfterReads } from '../../model/instant.ts';
import { once } from '../../model/once.ts';
import { tcpTarget } from '../../model/tcp-target.ts';
import { PlainSocket } from '../plain/plain-socket.ts';
import type { Dial, DialLimits, DialResult } from '../server.ts';
import { SOCKET_OPTIONS, ignoreErrors, type ProxySocket } from '../socket.ts';

/** With sockets of Node. */
export const dialTcp = dialerOf((options) => new Socket(options));

/** `createSocket`: of the machine that connects. */
export function dialerOf(createSocket: (options: SocketConstructorOpts) => Socket): Dial {
  return (address, limits, onResult) => {
    const { lookup, timeoutMs } = limits;
    const socket = createSocket(SOCKET_OPTIONS).connect({ lookup, ...tcpTarget(address, timeoutMs) });
    return awaitConnect(socket, limits, onResult);
  };
}

/** With plain sockets while `isPlain`, where no name is looked up and one address is tried; else as `dialTcp`. */
export function plainDialer(isPlain: () => boolean): Dial {
  return (address, limits, onResult) => {
    const { host, port, others = [] } = address;
    const socket = isPlain() && others.length === 0 && isIP(host) !== 0 ? PlainSocket.connectTo(host, port) : undefined;
    return socket === undefined ? dialTcp(address, limits, onResult) : awaitConnect(socket, limits, onResult);
  };
}

function awaitConnect(
  socket: ProxySocket,
  { clock, timeoutMs }: DialLimits,
  onResult: (result: DialResult) => void,
): ReturnType<Dial> {
  ignoreErrors(socket);
  const finish = once((result: DialResult | undefined): void => {
    cancelDeadline();
    socket.off('connect', connected).off('error', failed);
    if (result?.kind !== 'connected') socket.destroy();
    if (result !== undefined) onResult(result);
  });
  const connected = (): void => finish({ kind: 'connected', socket });
  const failed = (error: Error): void => finish(failure(error));
  const expired = (): void =>
    finish({ kind: 'failed', outcome: 'timeout', isLocalFault: false, detail: `no connection within ${timeoutMs} ms` });
  const cancelDeadline = scheduleAfterReads(clock, timeoutMs, expired);
  socket.on('connect', connected).on('error', failed);
  return () => finish(undefined);
}

function failure(error: Error): DialResult {
  const code = errorCode(error);
  const cause = errnoCause(code);
  const isUnresolvable = cause === 'unresolved';
  return {
    kind: 'failed',
    outcome: cause === 'refused' || cause === 'timeout' ? cause : 'failed',
    isLocalFault: isUnresolvable || cause === 'exhausted' || cause === 'no_network',
    ...(isUnresolvable && { isUnresolvable }),
    detail: errnoText(code) ?? (code === '' ? error.message : code),
  };
}
