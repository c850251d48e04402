// Scenario 26: with a maximum session age the counts even out after a replica's return, and only between transactions.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool } from '../../support/builders.ts';
import { startFakeBackend } from '../../support/fake-backend.ts';
import type { FakeBackend } from '../../support/fake-backend.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../../support/messages.ts';
import { aStartup, errorFields } from '../../support/packets.ts';
import { startProxyLab } from '../../support/proxy-lab.ts';
import type { ProxyLab } from '../../support/proxy-lab.ts';
import { connectRaw } from '../../support/raw-client.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { PoolPicture } from '../../support/tables.ts';
import { until } from '../../support/until.ts';

const GREETING = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
/** As much of one as tells it from PostgreSQL's own packets. */
const CLIENT_HELLO = Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]);
const AGE_MS = 100_000;
/** The lab's chance is 0: a tenth less. */
const SHORTEST_MS = 90_000;
const SLOW_START_MS = 10_000;

let lab: ProxyLab;
let first: FakeBackend;
let second: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  first = await startFakeBackend('silent');
  second = await startFakeBackend('silent');
  clock = new ManualClock();
  lab = await startProxyLab({
    clock,
    pools: [aPool({ maxSessionAgeMs: AGE_MS, slowStartMs: SLOW_START_MS })],
    table: { read: onlyFirst() },
  });
});

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
  await Promise.all([first.stop(), second.stop()]);
});

function onlyFirst(): PoolPicture {
  return { open: { first: first.address } };
}

function both(): PoolPicture {
  return { open: { first: first.address, second: second.address } };
}

function sessionsOn(member: string): number {
  return lab.proxy.counts().get('read')?.members.get(member) ?? 0;
}

/** A session through its startup. */
async function aSession(): Promise<{ readonly client: RawClient; readonly backend: FakeBackend }> {
  const before = [first.connections.length, second.connections.length];
  const client = await connectRaw(lab.address('read'));
  client.socket.write(aStartup());
  const backend = await until('the startup', () =>
    [first, second].find((one, i) => one.connections.length > (before[i] ?? 0) && one.last().chunks.length > 0),
  );
  backend.last().socket.write(GREETING);
  await until('the greeting', () => client.received().length === GREETING.length);
  return { client, backend };
}

test('old and idle: told its age; nobody before', async () => {
  const { client } = await aSession();
  await clock.advance(SHORTEST_MS - 1);
  expect(lab.proxy.counts().get('read')?.states.relaying).toBe(1);
  await clock.advance(1);
  expect(await until('the words', () => errorFields(client.received().subarray(GREETING.length)))).toEqual({
    S: 'FATAL',
    V: 'FATAL',
    C: '57P01',
    M: 'pointsman: the session has reached the age at which pool "read" ends sessions (too-old)',
    D: 'it was open for 90 s; max_session_age is 100 s, give or take a tenth',
    H: 'No transaction was open. Connect again: the next session goes where the pool is then.',
  });
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'too-old', member: 'first' }]);
});

test('old and in a transaction: it ends when that is done, however long it takes', async () => {
  const { client, backend } = await aSession();
  const connection = backend.last();
  const server = connection.socket;
  client.socket.write(QUERY);
  await until('the query', () => connection.received().length > aStartup().length);
  server.write(Buffer.concat([COMMAND_COMPLETE, readyForQuery('T')]));
  await until('the answer', () => client.received().length === GREETING.length + ANSWER.length);
  await clock.advance(10 * AGE_MS);
  expect(lab.proxy.counts().get('read')?.states.relaying).toBe(1);
  client.socket.write(QUERY);
  server.write(ANSWER);
  const relayed = GREETING.length + 2 * ANSWER.length;
  const words = await until('the words', () => errorFields(client.received().subarray(relayed)));
  expect(words).toMatchObject({ C: '57P01', M: expect.stringContaining('too-old') });
});

test('TLS, whose transactions nobody sees, is left alone', async () => {
  const client = await connectRaw(lab.address('read'));
  client.socket.write(CLIENT_HELLO);
  await until('the hello', () => first.connections.length === 1 && first.last().received().equals(CLIENT_HELLO));
  first.last().socket.write(CLIENT_HELLO);
  await until('the answer', () => client.received().length > 0);
  await clock.advance(10 * AGE_MS);
  expect(lab.proxy.counts().get('read')?.states.relaying).toBe(1);
});

test('scenario 26: a replica returns; when every session has reached its age the counts are even', async () => {
  const live = new Set<RawClient>();
  for (let count = 0; count < 20; count += 1) live.add((await aSession()).client);
  expect([sessionsOn('first'), sessionsOn('second')]).toEqual([20, 0]);
  lab.decide({ read: both() });
  await clock.advance(SHORTEST_MS - 1);
  expect([sessionsOn('first'), sessionsOn('second')]).toEqual([20, 0]);
  await clock.advance(1);
  // Each client reads why, and connects again, as an application's connection pool does.
  for (const client of live) {
    await until('the words', () => errorFields(client.received().subarray(GREETING.length)));
    client.socket.end();
    await aSession();
  }
  await until('every end', () => lab.reasons().length === live.size);
  expect(new Set(lab.reasons())).toEqual(new Set(['too-old']));
  expect([sessionsOn('first'), sessionsOn('second')]).toEqual([10, 10]);
});
