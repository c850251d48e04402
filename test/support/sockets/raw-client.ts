// A client on a bare socket: the test sends, the client keeps the answer.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import type { Address } from '../../../src/model/member.ts';

/** Less than a test may take, so that a connect without an answer is named. */
const CONNECT_MS = 15_000;

export interface RawClient {
  readonly socket: Socket;
  received(): Buffer;
  /** The proxy half-closed. */
  hasEnded: boolean;
  isClosed: boolean;
  wasReset: boolean;
}

export async function connectRaw({ host, port }: Address): Promise<RawClient> {
  const socket = connect({ host, port, allowHalfOpen: true });
  const client = watch(socket);
  await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
  return client;
}

/** Keeps what `socket` gets, and how it ends, from now on. */
export function watch(socket: Socket): RawClient {
  const chunks: Buffer[] = [];
  const client: RawClient = {
    socket,
    received: () => Buffer.concat(chunks),
    hasEnded: false,
    isClosed: false,
    wasReset: false,
  };
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('end', () => (client.hasEnded = true));
  socket.on('close', () => (client.isClosed = true));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') client.wasReset = true;
  });
  return client;
}
