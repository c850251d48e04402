import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPem } from '../../../../src/config/files/pem.ts';
import { readKeyPair } from '../../../../src/config/files/key-pair.ts';
import { createProxy } from '../../../../src/proxy/proxy.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { close, closedPort, listen } from '../../../support/sockets/listen.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aCancelRequest, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('echo');
  clock = new ManualClock();
  lab = await startProxyLab({ clock, table: { write: { open: { 'pg-1': backend.address } } } });
});

afterEach(() => lab.end(backend));

async function aSession(): Promise<RawClient> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => client.received().length === aStartup().length);
  return client;
}

async function aHeldReader(): Promise<RawClient> {
  const client = await connectRaw(lab.address('read'));
  client.socket.write(aStartup());
  await until('the hold', () => lab.proxy.counts().get('read')?.states.holding === 1);
  return client;
}

test('a port in use: no listener is bound, and the message names the port and the reason', async () => {
  const taken = createServer();
  const port = await listen(taken);
  const freePort = await closedPort();
  const proxy = createProxy({
    pools: [aWritePool(), aPool()],
    listeners: [
      { address: { host: '127.0.0.1', port: freePort }, pool: 'write' },
      { address: { host: '127.0.0.1', port }, pool: 'read' },
    ],
    client: {
      startupTimeoutMs: 10_000,
      maxSessions: 10,
      maxDisconnectsPerSecond: 50,
      tls: { mode: 'passthrough' },
    },
    backend: { connectTimeoutMs: 3_000, attemptDelayMs: undefined, connectAttempts: 3 },
    hold: { clientTimeoutMs: 1, maxSessions: 1, outageTimeoutMs: 1, maxConnectsPerSecond: 1 },
    relay: 'auto',
    table: () => aTableOf({ write: {}, read: {} }),
    decideIfDue: () => {},
    freshen: () => Promise.resolve(),
    onTrigger: () => {},
    onEvent: () => {},
    readKeyPair,
    readPem,
    clock: systemClock,
    random: () => 0,
  });
  expect(await proxy.listen()).toEqual({
    kind: 'failed',
    message: `127.0.0.1:${port} is in use by another process`,
  });
  await close(taken);
  await expect(connectRaw({ host: '127.0.0.1', port: freePort })).rejects.toThrow('ECONNREFUSED');
});

test('a stop before clients are served: those that came are served first', async () => {
  const clients: RawClient[] = [];
  const stopped: Promise<void>[] = [];
  const early = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } } },
    async beforeServing(bound) {
      clients.push(await connectRaw(bound.address('write')));
      stopped.push(bound.proxy.stopAccepting());
    },
  });
  await Promise.all(stopped);
  await expect(connectRaw(early.address('write'))).rejects.toThrow('ECONNREFUSED');
  for (const client of clients) {
    client.socket.write(aStartup());
    await until('the session', () => client.received().length === aStartup().length);
  }
  await early.end();
});

test('a reload before clients are served', async () => {
  const reloads: Promise<void>[] = [];
  const early = await startProxyLab({
    table: { write: { open: { 'pg-1': backend.address } } },
    beforeServing: async (one) => void reloads.push(one.reload()),
  });
  await Promise.all(reloads);
  const client = await connectRaw(early.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => client.received().length === aStartup().length);
  await early.end();
});

test('stop accepting: no new connections, live sessions go on', async () => {
  const client = await aSession();
  await lab.proxy.stopAccepting();
  await expect(connectRaw(lab.address('write'))).rejects.toThrow('ECONNREFUSED');
  client.socket.write('still');
  await until('the echo', () => client.received().includes('still'));
});

test('when empty: sessions and waiting clients end by themselves or at the deadline; the proxy ends none', async () => {
  const client = await aSession();
  const held = await aHeldReader();
  await lab.proxy.stopAccepting();
  const late = lab.proxy.whenEmpty(5_000);
  await clock.advance(5_000);
  await late;
  expect(lab.reasons()).toEqual([]);
  const empty = lab.proxy.whenEmpty(60_000);
  client.socket.end();
  held.socket.end();
  await empty;
  expect(lab.reasons().toSorted()).toEqual(['client_closed', 'client_gave_up']);
});

test('drain: waiting clients get an error, sessions end by themselves, and then the drain is over', async () => {
  const client = await aSession();
  const held = await aHeldReader();
  const drained = lab.proxy.drain(60_000);
  const error = await until('the error', () => errorFields(held.received()));
  expect(error).toMatchObject({ C: '57P03', M: expect.stringContaining('(shutdown)') });
  held.socket.end();
  client.socket.write('go on');
  await until('the echo', () => client.received().includes('go on'));
  client.socket.end();
  await drained;
  expect(new Set(lab.reasons())).toEqual(new Set(['shutdown', 'client_closed']));
});

test('drain: clients that connect meanwhile get an error', async () => {
  await aSession();
  void lab.proxy.drain(60_000);
  const late = await connectRaw(lab.address('write'));
  late.socket.write(aStartup());
  expect(await until('the error', () => errorFields(late.received()))).toMatchObject({ C: '57P03' });
});

test('drain: the deadline closes the rest, half-closed and silent sessions too', async () => {
  backend.behaviour = 'silent';
  const client = await connectRaw(lab.address('write'));
  client.socket.end(Buffer.concat([aStartup(), Buffer.from('and more')]));
  await until('the half-close', () => backend.connections.length === 1 && backend.last().hasEnded);
  const drained = lab.proxy.drain(60_000);
  await clock.advance(60_000);
  await drained;
  expect(lab.reasons()).toEqual(['shutdown']);
  await until('the end', () => client.hasEnded);
});

test('close ends everything at once', async () => {
  const client = await aSession();
  const held = await aHeldReader();
  lab.proxy.close();
  expect(lab.reasons()).toEqual(['shutdown', 'shutdown']);
  await until('the ends', () => client.hasEnded && held.hasEnded);
});

test('a client that was refused keeps that reason when the process ends meanwhile', async () => {
  lab.decide({ write: { otherwise: 'closed' } });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the error', () => errorFields(client.received()));
  lab.proxy.close();
  expect(lab.reasons()).toEqual(['no_route']);
});

test('a client that never reads the server’s end does not keep the session for ever', async () => {
  const client = await aSession();
  backend.last().socket.end();
  await until('the half-close', () => client.hasEnded);
  await clock.advance(60_000);
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['backend_closed']);
});

test('scenario 35: a cancel goes once to each member with sessions of the pool, then the client ends', async () => {
  await aSession();
  const request = aCancelRequest(32);
  const canceller = await connectRaw(lab.address('write'));
  canceller.socket.write(request);
  await until('the request', () => backend.connections.length === 2 && backend.last().chunks.length > 0);
  expect(backend.last().received().equals(request)).toBe(true);
  expect(canceller.hasEnded).toBe(false);
  backend.last().socket.destroy();
  await until('the end', () => canceller.hasEnded);
  expect(lab.reasons()).toEqual(['cancel_forwarded']);
  expect(lab.events.find(({ kind }) => kind === 'cancel_forwarded')).toMatchObject({ members: ['pg-1'] });
  expect(lab.proxy.counts().get('write')?.states.relaying).toBe(1);
});

test('scenario 35: a cancel whose client has left is passed on; a server that never closes has 5 s', async () => {
  await aSession();
  backend.behaviour = 'silent';
  const canceller = await connectRaw(lab.address('write'));
  canceller.socket.write(aCancelRequest());
  canceller.socket.destroy();
  await until('the request', () => backend.connections.length === 2 && backend.last().chunks.length > 0);
  await clock.advance(5_000);
  expect(lab.reasons()).toEqual(['cancel_forwarded']);
  await until('the end', () => backend.last().hasEnded);
});

test('scenario 35: a cancel in a pool without members contacts no server', async () => {
  lab.decide({});
  const canceller = await connectRaw(lab.address('write'));
  canceller.socket.write(aCancelRequest());
  await until('the end', () => canceller.hasEnded);
  expect(backend.connections.length).toBe(0);
  expect(lab.reasons()).toEqual(['cancel_failed']);
});
