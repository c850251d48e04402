// Finds ports that are free on every given address at the same time, below the ephemeral range: a connection that goes
// out cannot take one before its server listens.
import { connect, createServer, type Server } from 'node:net';
import { takeFreePort } from '../../../src/sandbox/postgres/free-ports.ts';

export async function findFreePorts(count: number, addresses: readonly string[]): Promise<number[]> {
  const isFree = async (port: number): Promise<boolean> => {
    const free = await Promise.all(addresses.map((address) => areFree(address, [port])));
    return free.every(Boolean);
  };
  return Promise.all(Array.from({ length: count }, () => takeFreePort({ isFree })));
}

export async function areFree(address: string, ports: readonly number[]): Promise<boolean> {
  const servers = await Promise.all(ports.map((port) => listen(address, port)));
  const listening = servers.filter((server) => server !== undefined);
  await Promise.all(listening.map(close));
  return listening.length === ports.length;
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
