// Scenario 26: with a maximum session age the counts even out after a replica's return. Sessions end between
// transactions only.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { GreetedSession } from '../../../support/labs/greeted-session.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

/** The first bytes, enough to differ from PostgreSQL's own packets. */
const CLIENT_HELLO = Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]);
const AGE_MS = 100_000;
/** The lab's random number is 0: a tenth less than the configured age. */
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
  const pools = [aPool({ maxSessionAgeMs: AGE_MS, slowStartMs: SLOW_START_MS })];
  lab = await startProxyLab({ clock, pools, table: { read: onlyFirst() } });
});

afterEach(() => lab.end(first, second));

function onlyFirst(): PoolPicture {
  return { open: { first: first.address } };
}

function both(): PoolPicture {
  return { open: { first: first.address, second: second.address } };
}

function aSession(): Promise<GreetedSession> {
  return GreetedSession.open(lab.address('read'), first, second);
}

function relaying(): number | undefined {
  return lab.proxy.counts().get('read')?.states.relaying;
}

/** The sessions on the first and on the second member. */
function shares(): readonly number[] {
  const members = lab.proxy.counts().get('read')?.members;
  return ['first', 'second'].map((member) => members?.get(member) ?? 0);
}

test('an old idle session gets an error with its age; a younger one stays', async () => {
  const session = await aSession();
  await clock.advance(SHORTEST_MS - 1);
  expect(relaying()).toBe(1);
  await clock.advance(1);
  expect(await session.lastWords()).toEqual({
    S: 'FATAL',
    V: 'FATAL',
    C: '57P01',
    M: 'pointsman: terminating connection: maximum session age of pool "read" reached (too_old)',
    D: 'the session lasted 90 s; max_session_age is 100 s (varied by up to 10 %)',
    H: 'No transaction was open. Connect again.',
  });
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'too_old', member: 'first' }]);
});

test('an old session in a transaction ends after the transaction, however long that takes', async () => {
  const session = await aSession();
  await session.ask();
  await session.answer('T');
  await clock.advance(10 * AGE_MS);
  expect(relaying()).toBe(1);
  await session.ask();
  await session.answer('I');
  expect(await session.lastWords()).toMatchObject({ C: '57P01', M: expect.stringContaining('too_old') });
});

test('passthrough TLS hides its transactions, so its session stays', async () => {
  const client = await connectRaw(lab.address('read'));
  client.socket.write(CLIENT_HELLO);
  await until('the hello', () => first.connections.length === 1 && first.last().received().equals(CLIENT_HELLO));
  first.last().socket.write(CLIENT_HELLO);
  await until('the answer', () => client.received().length > 0);
  await clock.advance(10 * AGE_MS);
  expect(relaying()).toBe(1);
});

test('scenario 26: a replica returns; once all sessions have reached their age the counts are even', async () => {
  const old: GreetedSession[] = [];
  for (let count = 0; count < 20; count += 1) old.push(await aSession());
  expect(shares()).toEqual([20, 0]);
  lab.decide({ read: both() });
  await clock.advance(SHORTEST_MS - 1);
  expect(shares()).toEqual([20, 0]);
  await clock.advance(1);
  // Each client reads the reason and connects again, as an application's connection pool does.
  for (const session of old) {
    await session.lastWords();
    await aSession();
  }
  await until('every end', () => lab.reasons().length === old.length);
  expect(new Set(lab.reasons())).toEqual(new Set(['too_old']));
  expect(shares()).toEqual([10, 10]);
});
