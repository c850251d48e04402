// The addresses that workers share, on real sockets: port 0 becomes a port that the kernel gives to nobody else before
// the workers bind it.
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { Ports } from '../../../src/workers/ports.ts';
import { findFreePorts } from '../../support/sockets/free-ports.ts';
import { listen } from '../../support/sockets/listen.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';

const ANY = { address: { host: '127.0.0.1', port: 0 }, pool: 'write' };
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await once(server.close(), 'close');
});

/** Picks these ports, one after the other. */
function portsOf(...picks: readonly number[]): Ports {
  let at = 0;
  const random = (): number => ((picks[at++ % picks.length] ?? 0) + 0.5 - 20_000) / (32_768 - 20_000);
  return new Ports({ clock: systemClock, random });
}

async function claimed(ports: Ports): Promise<number | undefined> {
  const claim = await ports.claim([ANY]);
  return claim.kind === 'claimed' ? claim.listeners[0]?.address.port : undefined;
}

async function taken(): Promise<number> {
  const [port = 0] = await findFreePorts(1, ['127.0.0.1']);
  const server = createServer();
  servers.push(server);
  return await listen(server, { port });
}

test('port 0 becomes a port below those of the kernel, and nothing listens there', async () => {
  const [free = 0] = await findFreePorts(1, ['127.0.0.1']);
  expect(await claimed(portsOf(free))).toBe(free);
  const server = createServer();
  servers.push(server);
  expect(await listen(server, { port: free })).toBe(free);
});

test('another one is picked in place of a port that is taken', async () => {
  const [free = 0] = await findFreePorts(1, ['127.0.0.1']);
  expect(await claimed(portsOf(await taken(), free))).toBe(free);
});

test('the kernel picks when all picked ones are taken', async () => {
  const port = await taken();
  const claim = await claimed(portsOf(port));
  expect(claim).toEqual(expect.any(Number));
  expect(claim).not.toBe(port);
});
