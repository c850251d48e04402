// Servers of tests: a free port on loopback, and an end.
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { keepPort } from './kept-port.ts';

export interface ListenOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Without one, a free port. */
  readonly port?: number;
  /** The kernel's queue of connects. */
  readonly backlog?: number;
}

/** Listens on 127.0.0.1; resolves with the port. */
export async function listen(server: Server, at: ListenOptions = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port: 0, host: '127.0.0.1', ...at }, resolve);
  await promise;
  server.off('error', reject);
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound.port;
}

/**
 * Resolves when the last connection has ended, too. The port refuses at once, and no other program gets it. `isReal`:
 * it is a port of this machine.
 */
export async function close(server: Server, isReal = true): Promise<void> {
  const bound = server.address();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  const isKept = isReal && bound !== null && typeof bound !== 'string' && keepPort(bound.port, bound.address);
  await Promise.all([ended, isKept]);
}

/** A port that refuses connections. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await close(server);
  return port;
}
