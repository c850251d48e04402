// Servers of tests: a free port on loopback, and an end.
import type { Server } from 'node:net';

/** Listens on a free port of 127.0.0.1; resolves with it. `backlog`: the kernel's queue of connects. */
export async function listen(server: Server, at: { readonly backlog?: number } = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port: 0, host: '127.0.0.1', ...at }, resolve);
  await promise;
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return bound.port;
}

/** Resolves when the last connection has ended, too. */
export async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  await promise;
}
