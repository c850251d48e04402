// Finds ports that are free on every given address at the same time. Nothing is hard coded: the kernel
// chooses on the first address, the others have to agree.
import { connect, createServer, type Server } from 'node:net';

export async function findFreePorts(count: number, addresses: readonly string[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    const ports: number[] = [];
    for (let attempt = 0; ports.length < count; attempt += 1) {
      if (attempt > 50) throw new Error(`no port is free on all of ${addresses.join(', ')}`);
      const port = await holdEverywhere(addresses, held);
      if (port !== undefined) ports.push(port);
    }
    return ports;
  } finally {
    await Promise.all(held.map(close));
  }
}

export async function areFree(address: string, ports: readonly number[]): Promise<boolean> {
  const servers = await Promise.all(ports.map((port) => listen(address, port)));
  const listening = servers.filter((server) => server !== undefined);
  await Promise.all(listening.map(close));
  return listening.length === ports.length;
}

async function holdEverywhere(addresses: readonly string[], held: Server[]): Promise<number | undefined> {
  let port = 0;
  for (const address of addresses) {
    const server = await listen(address, port);
    if (server === undefined) return undefined;
    held.push(server);
    const bound = server.address();
    if (bound !== null && typeof bound === 'object') port = bound.port;
  }
  return port;
}

function listen(host: string, port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** True when nobody listens there; a connection that is merely slow counts as somebody. */
export function refusesConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 500 });
    const answer = (refused: boolean) => {
      socket.destroy();
      resolve(refused);
    };
    socket.once('error', (error: NodeJS.ErrnoException) => answer(error.code === 'ECONNREFUSED'));
    socket.once('connect', () => answer(false));
    socket.once('timeout', () => answer(false));
  });
}
