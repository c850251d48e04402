// Whether the listeners' addresses are free, asked before a cluster is started in vain. Whoever binds them has the last word.
import { createServer } from 'node:net';

/** The first of them that somebody else listens on; undefined when all are free. Each host:port. */
export async function firstTaken(addresses: readonly string[]): Promise<string | undefined> {
  for (const address of addresses) {
    if (await isTaken(address)) return address;
  }
  return undefined;
}

function isTaken(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''), () => server.close(() => resolve(false)));
  });
}
