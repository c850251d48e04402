import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { SSL_REQUEST, aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { standstill } from '../../../support/waiting/standstill.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;

async function start(behaviour: FakeBackend['behaviour'] = 'echo'): Promise<void> {
  backend = await startFakeBackend(behaviour);
  lab = await startProxyLab({ table: { write: { open: { 'pg-1': backend.address } } } });
}

afterEach(() => lab.end(backend));

test('bytes arrive unaltered, once, in order, both ways, for any cut', async () => {
  await start();
  const client = await connectRaw(lab.address('write'));
  const sent = Buffer.concat([aStartup(), randomBytes(50_000)]);
  for (let at = 0; at < 200; at += 1) {
    client.socket.write(sent.subarray(at, at + 1));
  }
  client.socket.write(sent.subarray(200));
  await until('the echo', () => client.received().length === sent.length);
  expect(client.received().equals(sent)).toBe(true);
  expect(backend.last().received().equals(sent)).toBe(true);
});

test('bytes pipelined after the first packet, before the server is connected, are forwarded exactly once', async () => {
  await start();
  const client = await connectRaw(lab.address('write'));
  const sent = Buffer.concat([aStartup(), randomBytes(300_000)]);
  client.socket.write(sent);
  await until('the echo', () => client.received().length === sent.length);
  expect(client.received().equals(sent)).toBe(true);
});

test('scenario 36: a client that half-closes with 300 kB in flight gets every byte back', async () => {
  await start();
  const client = await connectRaw(lab.address('write'));
  const sent = Buffer.concat([aStartup(), randomBytes(300_000)]);
  client.socket.end(sent);
  await until('the end', () => client.hasEnded);
  expect(client.received().equals(sent)).toBe(true);
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()[0]).toMatchObject({
    reason: 'client_closed',
    member: 'pg-1',
    user: 'app',
    database: 'shop',
    toBackendBytes: sent.length,
    toClientBytes: sent.length,
  });
  await until('both ends closed', () => client.isClosed && backend.last().isClosed);
});

test('scenario 36: a backend that half-closes with 300 kB in flight still gets what the client sends', async () => {
  await start('silent');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  const toClient = randomBytes(300_000);
  const toBackend = randomBytes(300_000);
  backend.last().socket.end(toClient);
  await until('the half-close', () => client.hasEnded);
  expect(client.received().equals(toClient)).toBe(true);
  client.socket.end(toBackend);
  await until('the session to end', () => lab.reasons().length === 1);
  expect(
    backend
      .last()
      .received()
      .equals(Buffer.concat([aStartup(), toBackend])),
  ).toBe(true);
  expect(lab.reasons()).toEqual(['backend_closed']);
});

test('scenario 37: a slow reader slows the server: the bytes in between stay limited', async () => {
  await start('silent');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  client.socket.pause();
  const { socket } = backend.last();
  const total = 64 * 1024 * 1024;
  socket.write(Buffer.alloc(total, 7));
  // Buffers of the kernel and of streams fill, then no byte moves any more.
  const inBetween = await standstill(() => lab.proxy.counts().get('write')?.toClientBytes ?? 0);
  expect(inBetween).toBeLessThan(total / 2);
  client.socket.resume();
  await until('all of it', () => lab.proxy.counts().get('write')?.toClientBytes === total, 10_000);
});

test('the server answers an SSLRequest', async () => {
  await start('silent');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('the request', () => backend.connections.length === 1 && backend.last().received().length === 8);
  backend.last().socket.write('S');
  await until('the answer', () => client.received().toString() === 'S');
  const opaque = randomBytes(1000);
  client.socket.write(opaque);
  await until('opaque bytes', () => backend.last().received().length === 1008);
  expect(backend.last().received().subarray(8).equals(opaque)).toBe(true);
});

test('scenario 36: a reset by the client resets the server connection', async () => {
  await start('polite');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => client.received().length > 0);
  client.socket.resetAndDestroy();
  await until('the close', () => backend.last().isClosed && lab.reasons().length === 1);
  expect(backend.last().wasReset).toBe(true);
  expect(lab.reasons()).toEqual(['client_reset']);
  expect(lab.triggers).toEqual([]);
});

test('scenario 36: a reset by the server ends the client after the bytes before it, and triggers a probe', async () => {
  await start('silent');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  backend.last().socket.write('last words');
  await until('last words', () => client.received().toString() === 'last words');
  backend.last().socket.resetAndDestroy();
  await until('the close', () => client.hasEnded && lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['backend_reset']);
  expect(lab.triggers).toEqual([{ kind: 'backend_reset', member: 'pg-1' }]);
});

test('every session is counted once while it lives and never afterwards', async () => {
  await start();
  const clients = await Promise.all(Array.from({ length: 20 }, () => connectRaw(lab.address('write'))));
  for (const { socket } of clients) socket.write(aStartup());
  await until('20 sessions', () => lab.proxy.counts().get('write')?.states.relaying === 20);
  expect(lab.proxy.counts().get('write')?.members).toEqual(new Map([['pg-1', 20]]));
  for (const { socket } of clients) socket.end();
  await until('their ends', () => lab.reasons().length === 20);
  const counts = lab.proxy.counts().get('write');
  expect(counts).toMatchObject({ accepted: 20, closed: 20, members: new Map(), fallbackSessions: 0 });
  expect(counts?.states).toEqual({ startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 });
  await until('their sockets', () => clients.every(({ isClosed }) => isClosed));
});
