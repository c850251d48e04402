// Checks whether the listeners' addresses are free, before a cluster is started for nothing. A later bind may still
// fail.
import { createServer } from 'node:net';

/** The first address (host:port) that another process listens on; undefined when all are free. */
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
