import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { SSL_REQUEST, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { standstill } from '../../../support/waiting/standstill.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('silent');
  clock = new ManualClock();
});

afterEach(() => lab.end(backend));

async function start(options: ProxyLabOptions = {}): Promise<void> {
  lab = await startProxyLab({ clock, ...options });
}

async function aHeldClient(first: Uint8Array = aStartup()): Promise<RawClient> {
  const before = held();
  const client = await connectRaw(lab.address('write'));
  client.socket.write(first);
  await until('the hold', () => held() === before + 1);
  return client;
}

function held(): number {
  return lab.proxy.counts().get('write')?.states.holding ?? 0;
}

function open(): void {
  lab.decide({ write: { open: { 'pg-1': backend.address } } });
}

function outcomes(): readonly string[] {
  return lab.events.flatMap((event) => (event.kind === 'hold_ended' ? [event.outcome] : []));
}

test('a waiting client is released when the route opens, with the bytes that it had sent', async () => {
  await start();
  await aHeldClient();
  expect(backend.connections.length).toBe(0);
  open();
  await until('the session', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  expect(backend.last().received().equals(aStartup())).toBe(true);
  expect(outcomes()).toEqual(['released']);
});

test('a client held after its SSLRequest is forwarded unchanged', async () => {
  await start();
  const client = await aHeldClient(SSL_REQUEST);
  open();
  await until('the request', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  expect(backend.last().received().equals(SSL_REQUEST)).toBe(true);
  expect(client.received().length).toBe(0);
});

test('G13: no client is released before the first complete round', async () => {
  await start({ table: { write: { otherwise: 'starting' } } });
  await aHeldClient();
  expect(lab.events.find((event) => event.kind === 'hold_started')).toMatchObject({ cause: 'starting' });
});

test('after client_timeout the client reads the known reason and the time that it waited', async () => {
  const others = { 'pg-2': { address: backend.address, standing: DEMOTED } };
  await start({ table: { write: { others } }, hold: { clientTimeoutMs: 5_000 } });
  const client = await aHeldClient();
  await clock.advance(5_000);
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({
    S: 'FATAL',
    V: 'FATAL',
    C: '57P03',
    M: 'pointsman: no primary available for pool "write" after waiting 5 s (hold_timeout)',
    D: 'members: pg-2 (is a replica)',
  });
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['hold_timeout']);
  expect(outcomes()).toEqual(['timeout']);
});

test('the proxy notices a client that leaves while it waits', async () => {
  await start();
  const client = await aHeldClient();
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['client_gave_up']);
  expect(outcomes()).toEqual(['gave_up']);
  const rude = await aHeldClient();
  rude.socket.resetAndDestroy();
  await until('the close', () => lab.reasons().length === 2);
  expect(lab.reasons()).toEqual(['client_gave_up', 'client_gave_up']);
});

test('G11: the bytes of a held client are limited, and all of them arrive in the end', async () => {
  await start();
  const client = await aHeldClient();
  const flood = Buffer.alloc(32 * 1024 * 1024, 7);
  client.socket.write(flood);
  await standstill(() => client.socket.writableLength);
  expect(client.socket.writableLength).toBeGreaterThan(flood.length / 2);
  open();
  await until('all of it', () => lab.proxy.counts().get('write')?.toBackendBytes === aStartup().length + flood.length);
});

const isRefused = (client: RawClient): boolean => errorFields(client.received()) !== undefined;

test('G11: loud waiting clients are refused when all together exceed the limit; the others wait on', async () => {
  await start({ hold: { maxSessions: 1_000 } });
  const quiet = await aHeldClient();
  const flood = Buffer.concat([aStartup(), Buffer.alloc(256 * 1024, 7)]);
  const loud: RawClient[] = [];
  while (!loud.some(isRefused) && loud.length < 1_000) {
    const client = await connectRaw(lab.address('write'));
    client.socket.write(flood);
    loud.push(client);
  }
  const refused = await until('a refusal', () => loud.map((one) => errorFields(one.received())).find((one) => one));
  expect(refused).toMatchObject({
    C: '53300',
    M: expect.stringContaining('(hold_full)'),
    D: expect.stringContaining('waiting clients have sent more than the proxy can buffer'),
  });
  // The limit is 16 MB in total and 80 kB per client.
  expect(loud.length).toBeGreaterThan(200);
  expect(quiet.received().length).toBe(0);
  for (const { socket } of loud) socket.destroy();
  await clock.advance(30_000);
  await until('the end of their wait', () => held() === 0);
  // The memory kept for the refused clients is free again.
  const another = await aHeldClient(flood);
  expect(another.received().length).toBe(0);
});

test('one client over the limit is refused at once', async () => {
  await start({ hold: { maxSessions: 2 } });
  await aHeldClient();
  await aHeldClient();
  const third = await connectRaw(lab.address('write'));
  third.socket.write(aStartup());
  const error = await until('the error', () => errorFields(third.received()));
  expect(error).toMatchObject({
    C: '53300',
    M: 'pointsman: too many clients are waiting for pool "write" (hold_full)',
    D: '2 clients are waiting already; members: none',
    H: 'Connect again in a few seconds.',
  });
  expect(held()).toBe(2);
});

test('after outage_timeout without a route, waiting and new clients are refused; a route resets it', async () => {
  await start({ hold: { clientTimeoutMs: 30_000, outageTimeoutMs: 60_000 } });
  await clock.advance(45_000);
  const waiting = await aHeldClient();
  await clock.advance(15_000);
  expect(await until('the error', () => errorFields(waiting.received()))).toMatchObject({
    C: '57P03',
    M: 'pointsman: no primary available for pool "write" after waiting 15 s (hold_timeout)',
    D: 'members: none',
    H: expect.stringMatching(/^Connect again in a few seconds/),
  });
  const late = await connectRaw(lab.address('write'));
  late.socket.write(aStartup());
  const error = await until('the error', () => errorFields(late.received()));
  expect(error).toMatchObject({
    C: '57P03',
    M: 'pointsman: no primary available for pool "write" (no_route)',
    D: 'no eligible member for 60 s; members: none',
  });
  open();
  lab.decide({});
  await aHeldClient();
});

test('a route that closes for good refuses its waiting clients', async () => {
  await start();
  const client = await aHeldClient();
  lab.decide({ write: { otherwise: 'closed' } });
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '57P03', M: expect.stringContaining('(no_route)') });
  expect(outcomes()).toEqual(['refused']);
});

function released(): readonly number[] {
  return lab.events.flatMap((event) => (event.kind === 'hold_ended' ? [event.session] : []));
}

test('G20: waiting clients are released in order at the release rate', async () => {
  await start({ hold: { maxConnectsPerSecond: 100 } });
  for (let count = 0; count < 6; count += 1) await aHeldClient();
  open();
  expect(released()).toEqual([1, 2]);
  await clock.advance(10);
  expect(released()).toEqual([1, 2, 3]);
  await clock.advance(20);
  expect(released()).toEqual([1, 2, 3, 4, 5]);
});

test('a route that closes during the release stops it', async () => {
  await start({ hold: { maxConnectsPerSecond: 10 } });
  for (let count = 0; count < 3; count += 1) await aHeldClient();
  open();
  lab.decide({});
  await clock.advance(1_000);
  const outcomes = lab.events.flatMap((event) => (event.kind === 'hold_ended' ? [event.outcome] : []));
  expect(outcomes).toEqual(['released']);
  expect(held()).toBe(3);
});

test('waiting clients trigger a probe on arrival and each second while they wait', async () => {
  await start();
  await aHeldClient();
  expect(lab.triggers).toEqual([{ kind: 'clients_held', pool: 'write' }]);
  await clock.advance(3_000);
  expect(lab.triggers.length).toBe(4);
  open();
  await clock.advance(3_000);
  expect(lab.triggers.length).toBe(4);
});

test('a client held on behalf of the operator reads that reason at the end of its wait', async () => {
  const standing = { kind: 'leave', cause: 'operator', why: { code: 'drained', since: 1_000 } } as const;
  const others = { 'pg-1': { address: backend.address, standing } };
  await start({ table: { write: { others } }, hold: { clientTimeoutMs: 5_000 } });
  const client = await aHeldClient();
  await clock.advance(5_000);
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
    C: '57P03',
    D: 'members: pg-1 (drained by the operator 5 s ago)',
  });
});

test('a client that comes just before outage_timeout ends waits until then at most', async () => {
  await start({ hold: { clientTimeoutMs: 30_000, outageTimeoutMs: 60_000 } });
  await clock.advance(59_000);
  const client = await aHeldClient();
  await clock.advance(999);
  expect(held()).toBe(1);
  await clock.advance(1);
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
    C: '57P03',
    D: 'members: none',
  });
});

test('a slot in the queue that becomes free goes to the next client that connects', async () => {
  await start({ hold: { maxSessions: 1 } });
  const first = await aHeldClient();
  first.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  await aHeldClient();
});
