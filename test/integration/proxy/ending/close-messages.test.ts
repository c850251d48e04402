// Relayed sessions that Pointsman ends while it can read their stream. Between two transactions the client gets an
// error with the reason; otherwise the proxy cuts the connection.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { BackendConnection, FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../../../support/sockets/messages.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

interface Pair {
  readonly client: RawClient;
  readonly backend: BackendConnection;
}

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

/** The time that a client has for its first statement after its login. */
const SETTLING_MS = 500;
const GREETING = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);

beforeEach(async () => {
  backend = await startFakeBackend('silent');
  clock = new ManualClock();
  lab = await startProxyLab({ clock, table: { write: open(), read: open() } });
});

afterEach(() => lab.end(backend));

function open(): PoolPicture {
  return { open: { 'pg-1': backend.address } };
}

function demoted(): PoolPicture {
  return { others: { 'pg-1': { address: backend.address, standing: DEMOTED } } };
}

/** A standing for reads: the member drains and is not closed. */
function taggedOut(): PoolPicture {
  const standing = { kind: 'leave', cause: 'tagged_out', why: { code: 'tagged_out' } } as const;
  return { others: { 'pg-1': { address: backend.address, standing } } };
}

const HANDING_OVER = {
  kind: 'leave',
  cause: 'switchover',
  why: { code: 'switchover_running' },
  limitMs: 3_000,
} as const;

function handingOver(): PoolPicture {
  return { others: { 'pg-1': { address: backend.address, standing: HANDING_OVER } } };
}

/** A session that has completed its startup. */
async function aSession(pool: string): Promise<Pair> {
  const before = backend.connections.length;
  const client = await connectRaw(lab.address(pool));
  client.socket.write(aStartup());
  await until('the startup', () => backend.connections.length === before + 1 && backend.last().chunks.length > 0);
  const connection = backend.last();
  connection.socket.write(GREETING);
  await until('the greeting', () => client.received().equals(GREETING));
  await clock.advance(SETTLING_MS);
  return { client, backend: connection };
}

async function query({ client, backend: connection }: Pair): Promise<void> {
  const before = connection.received().length;
  client.socket.write(QUERY);
  await until('the query', () => connection.received().length === before + QUERY.length);
}

async function answer({ client, backend: connection }: Pair, status: string): Promise<void> {
  const before = client.received().length;
  const words = Buffer.concat([COMMAND_COMPLETE, readyForQuery(status)]);
  connection.socket.write(words);
  await until('the answer', () => client.received().length >= before + words.length);
}

/** The error that the client read after all bytes of the server. */
function lastWords({ client }: Pair, relayed: number = GREETING.length): Promise<Readonly<Record<string, string>>> {
  return until('the last words', () => errorFields(client.received().subarray(relayed)));
}

test('a client that half-closed behind its request reads the answer and the end, and no error between', async () => {
  const session = await aSession('read');
  session.client.socket.end(QUERY);
  await until('the end of the requests', () => session.backend.hasEnded);
  lab.decide({ read: taggedOut() });
  await answer(session, 'I');
  await until('the end', () => session.client.hasEnded);
  expect(session.client.received()).toEqual(Buffer.concat([GREETING, COMMAND_COMPLETE, readyForQuery('I')]));
  expect(lab.reasons()).toEqual(['evicted_tagged_out']);
});

test('an idle session of a demoted primary gets the reason synchronously, and its server is reset', async () => {
  const session = await aSession('write');
  const heard = session.backend.received().length;
  session.client.socket.write(QUERY);
  lab.decide({ write: demoted() });
  expect(lab.proxy.counts().get('write')).toMatchObject({ members: new Map(), states: { relaying: 0, closing: 1 } });
  expect(await lastWords(session)).toEqual({
    S: 'FATAL',
    V: 'FATAL',
    C: '57P01',
    M: 'pointsman: terminating connection: the server is no longer the primary (evicted_demoted)',
    D: 'pg-1: is a replica',
    H: 'No transaction was open. Connect again.',
  });
  await until('the reset', () => session.backend.isClosed);
  expect(session.backend.wasReset).toBe(true);
  expect(session.backend.received().length).toBe(heard);
  session.client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'evicted_demoted', member: 'pg-1', detail: 'pg-1: is a replica' }]);
});

test.each([
  ['in a transaction', async (session: Pair) => (await query(session), answer(session, 'T'))],
  ['in the middle of a query', query],
])('a session %s is cut off on both sides', async (_, prepare) => {
  const session = await aSession('write');
  await prepare(session);
  const received = session.client.received().length;
  lab.decide({ write: demoted() });
  expect(lab.reasons()).toEqual(['evicted_demoted']);
  await until('both resets', () => session.client.isClosed && session.backend.isClosed);
  expect(session.client.wasReset).toBe(true);
  expect(session.backend.wasReset).toBe(true);
  expect(session.client.received().length).toBe(received);
});

test('a client that does not leave after the error is cut off', async () => {
  await aSession('write');
  lab.decide({ write: demoted() });
  await clock.advance(5_000);
  await until('the close', () => lab.reasons().length === 1);
});

test('drain: idle sessions end at once, busy ones when they are idle, the rest at the deadline', async () => {
  const idle = await aSession('read');
  const busy = await aSession('read');
  const open = await aSession('read');
  await query(busy);
  await query(open);
  await answer(open, 'T');
  lab.decide({ read: taggedOut() });
  expect(await lastWords(idle)).toMatchObject({ C: '57P01', D: 'pg-1: excluded by its tags' });
  expect(lab.proxy.counts().get('read')?.states).toMatchObject({ relaying: 2, closing: 1 });
  await answer(busy, 'I');
  const relayed = GREETING.length + COMMAND_COMPLETE.length + readyForQuery('I').length;
  expect(await lastWords(busy, relayed)).toMatchObject({ C: '57P01' });
  for (const { client } of [idle, busy]) client.socket.end();
  await until('two closes', () => lab.reasons().length === 2);
  await clock.advance(59_999);
  expect(lab.reasons().length).toBe(2);
  await clock.advance(1);
  expect(lab.reasons()).toEqual(Array.from({ length: 3 }, () => 'evicted_tagged_out'));
  expect(open.client.received().length).toBe(relayed);
});

test('a switchover ends sessions as a drain does, and cuts the rest at its own limit', async () => {
  const idle = await aSession('write');
  const busy = await aSession('write');
  const open = await aSession('write');
  await query(busy);
  await query(open);
  await answer(open, 'T');
  lab.decide({ write: handingOver() });
  expect(await lastWords(idle)).toMatchObject({
    C: '57P01',
    M: 'pointsman: terminating connection: the server is about to hand over to another primary (evicted_switchover)',
  });
  await answer(busy, 'I');
  const relayed = GREETING.length + COMMAND_COMPLETE.length + readyForQuery('I').length;
  expect(await lastWords(busy, relayed)).toMatchObject({ C: '57P01' });
  for (const { client } of [idle, busy]) client.socket.end();
  await until('two closes', () => lab.reasons().length === 2);
  await clock.advance(2_999);
  expect(lab.reasons()).toEqual(['evicted_switchover', 'evicted_switchover']);
  await clock.advance(1);
  expect(lab.reasons().at(-1)).toBe('evicted_switchover_timeout');
});

test('G22: a switchover that is taken back keeps busy sessions', async () => {
  const busy = await aSession('write');
  await query(busy);
  lab.decide({ write: handingOver() });
  lab.decide({ write: open() });
  await answer(busy, 'I');
  await clock.advance(3_000);
  expect(lab.proxy.counts().get('write')?.states.relaying).toBe(1);
});

test('a switchover ends more idle sessions than the limit per second allows', async () => {
  for (let count = 0; count < 60; count += 1) await aSession('write');
  lab.decide({ write: handingOver() });
  await clock.advance(750);
  expect(lab.proxy.counts().get('write')?.states.relaying).toBe(0);
});

test('drain: a session that has just begun may send its first statement, and ends after the answer', async () => {
  const client = await connectRaw(lab.address('read'));
  client.socket.write(aStartup());
  await until('the startup', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  const session = { client, backend: backend.last() };
  session.backend.socket.write(GREETING);
  await until('the greeting', () => client.received().equals(GREETING));
  lab.decide({ read: taggedOut() });
  await query(session);
  await clock.advance(SETTLING_MS);
  expect(client.received()).toEqual(GREETING);
  await answer(session, 'I');
  const relayed = GREETING.length + COMMAND_COMPLETE.length + readyForQuery('I').length;
  expect(await lastWords(session, relayed)).toMatchObject({ C: '57P01' });
});

test('drain: a member that comes back keeps its busy sessions', async () => {
  const busy = await aSession('read');
  await query(busy);
  lab.decide({ read: taggedOut() });
  lab.decide({ read: open() });
  await answer(busy, 'I');
  await query(busy);
  await answer(busy, 'I');
  expect(lab.proxy.counts().get('read')?.states.relaying).toBe(1);
});

test('drain: no more than fifty idle sessions in a second', async () => {
  const sessions: Pair[] = [];
  for (let count = 0; count < 52; count += 1) sessions.push(await aSession('read'));
  lab.decide({ read: taggedOut() });
  const relaying = (): number => lab.proxy.counts().get('read')?.states.relaying ?? 0;
  expect(relaying()).toBe(2);
  await clock.advance(20);
  expect(relaying()).toBe(1);
  await clock.advance(20);
  expect(relaying()).toBe(0);
});

test('the process stops: idle sessions get an error at once, busy ones once idle, then it is over', async () => {
  const idle = await aSession('read');
  const busy = await aSession('write');
  await query(busy);
  const drained = lab.proxy.drain(60_000);
  expect(await lastWords(idle)).toMatchObject({ C: '57P01', M: 'pointsman: the proxy is shutting down (shutdown)' });
  await answer(busy, 'I');
  const relayed = GREETING.length + COMMAND_COMPLETE.length + readyForQuery('I').length;
  expect(await lastWords(busy, relayed)).toMatchObject({ C: '57P01' });
  for (const { client } of [idle, busy]) client.socket.end();
  await drained;
  expect(lab.reasons()).toEqual(['shutdown', 'shutdown']);
});

async function sessions(count: number): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (let at = 0; at < count; at += 1) pairs.push(await aSession('read'));
  return pairs;
}

test('the process stops: idle sessions end at the rate that the deadline needs, and each gets an error', async () => {
  // At the drain rate this number would take 4 s.
  const idle = await sessions(200);
  const drained = lab.proxy.drain(2_000);
  await clock.advance(1_000);
  expect(lab.proxy.counts().get('read')?.states).toMatchObject({ relaying: 0 });
  for (const pair of idle) {
    expect(await lastWords(pair)).toMatchObject({ C: '57P01' });
    pair.client.socket.end();
  }
  await drained;
});

test('the process stops: a session that becomes idle in the last second gets an error then', async () => {
  const busy = await aSession('read');
  await query(busy);
  const drained = lab.proxy.drain(20_000);
  await clock.advance(19_500);
  await answer(busy, 'I');
  const relayed = GREETING.length + COMMAND_COMPLETE.length + readyForQuery('I').length;
  expect(await lastWords(busy, relayed)).toMatchObject({ C: '57P01' });
  busy.client.socket.end();
  await drained;
});

test('the process stops: sessions that became idle just before the deadline get an error too', async () => {
  const late = await sessions(80);
  for (const pair of late) await query(pair);
  const drained = lab.proxy.drain(20_000);
  await clock.advance(18_990);
  for (const pair of late) await answer(pair, 'I');
  await clock.advance(10);
  const relayed = GREETING.length + COMMAND_COMPLETE.length + readyForQuery('I').length;
  for (const pair of late) expect(await lastWords(pair, relayed)).toMatchObject({ C: '57P01' });
  await clock.advance(1_000);
  await drained;
  expect(lab.reasons()).toEqual(late.map(() => 'shutdown'));
});

test('the process stops while a session starts: the client gets an error once the session has begun', async () => {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the startup', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  void lab.proxy.drain(60_000);
  backend.last().socket.write(GREETING);
  await until('the greeting', () => client.received().equals(GREETING));
  await clock.advance(SETTLING_MS - 1);
  expect(client.received()).toEqual(GREETING);
  await clock.advance(1);
  expect(await lastWords({ client, backend: backend.last() })).toMatchObject({ C: '57P01' });
});
