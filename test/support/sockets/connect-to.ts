// A connection in plain text, as the proxy opens one to a member without `backend.tls`.
import { Socket } from 'node:net';
import { once } from 'node:events';
import type { Address } from '../../../src/model/member.ts';
import { SOCKET_OPTIONS } from '../../../src/proxy/socket.ts';

export function connectTo({ host, port }: Address): (signal: AbortSignal) => Promise<Socket> {
  return async (signal) => {
    const socket = new Socket({ ...SOCKET_OPTIONS, signal });
    await once(socket.connect({ host, port }), 'connect', { signal });
    return socket;
  };
}
