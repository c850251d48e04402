// The port of a server that a test has closed refuses, no other program gets it, and a server may have it again.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { close, closedPort, listen } from '../../support/sockets/listen.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const HOST = '127.0.0.1';
const ESTABLISHED = '01';

/** Connections whose own end is this port, as the kernel lists them. */
async function connectionsFrom(port: number): Promise<number> {
  const end = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  return rows.filter(([, own, , state]) => own === end && state === ESTABLISHED).length;
}

test.runIf(process.platform === 'linux')('a port is kept while the last connections of its server end', async () => {
  const server = createServer();
  const port = await listen(server);
  const client = await connectRaw({ host: HOST, port });
  await until('the end of the server', async () => (await connectionsFrom(port)) === 1);
  const closing = close(server);
  await until('the end that keeps the port', async () => (await connectionsFrom(port)) === 2);
  await expect(connectRaw({ host: HOST, port })).rejects.toThrow('ECONNREFUSED');
  client.socket.destroy();
  await closing;
});

test('a port that is kept refuses, and a server may listen on it, again and again', async () => {
  const port = await closedPort();
  for (let round = 0; round < 2; round += 1) {
    await expect(connectRaw({ host: HOST, port })).rejects.toThrow('ECONNREFUSED');
    const server = createServer();
    expect(await listen(server, { port })).toBe(port);
    await close(server);
  }
});
