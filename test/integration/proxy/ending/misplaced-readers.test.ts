// Read sessions on a member that lags, was promoted or served as the fallback. They drain after that has lasted, and
// only when another member of the pool is there.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { GreetedSession } from '../../../support/labs/greeted-session.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';
import type { Standing } from '../../../../src/core/standing.ts';

const LAGGING: Standing = { kind: 'leave', cause: 'lagging', why: { code: 'lagging' } };
const STANDS_BY: Standing = { kind: 'leave', cause: 'fallback_over', why: { code: 'fallback', detail: 'pool write' } };
const STANDS_IN: Standing = { kind: 'open', why: { code: 'fallback', detail: 'pool write' } };
const FALLBACK = { pool: 'write', maxSessions: 9 };

let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let clock: ManualClock;
/** Runs at each read of the table. */
let onDecideIfDue: () => void;

beforeEach(async () => {
  [one, two] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  clock = new ManualClock();
  onDecideIfDue = () => undefined;
  const read = aPool({ fallback: FALLBACK, onLeave: { ...aPool().onLeave, lagging: 'drain_idle' } });
  lab = await startProxyLab({
    clock,
    pools: [aWritePool(), read],
    table: { read: onOne() },
    onDecideIfDue: () => onDecideIfDue(),
  });
});

afterEach(() => lab.end(one, two));

function onOne(picture: PoolPicture = {}): PoolPicture {
  return { ...picture, open: { 'pg-1': one.address } };
}

/** pg-2 takes new sessions. */
function onTwo(standing: Standing, picture: PoolPicture = {}): PoolPicture {
  return { ...picture, open: { 'pg-2': two.address }, others: { 'pg-1': { address: one.address, standing } } };
}

function aSession(): Promise<GreetedSession> {
  return GreetedSession.open(lab.address('read'), one);
}

test('a lagging member: idle sessions drain after relocate_after, busy ones once idle, no deadline', async () => {
  const idle = await aSession();
  const busy = await aSession();
  await busy.ask();
  lab.decide({ read: onTwo(LAGGING) });
  await clock.advance(2999);
  expect(lab.reasons()).toEqual([]);
  await clock.advance(1);
  expect(await idle.lastWords()).toMatchObject({ C: '57P01', D: 'pg-1: lag too high' });
  await clock.advance(1_000_000);
  await until('one close', () => lab.reasons().length === 1);
  await busy.answer('I');
  expect(await busy.lastWords()).toMatchObject({ C: '57P01' });
  await until('two closes', () => lab.reasons().length === 2);
  expect(lab.reasons()).toEqual(['evicted_lagging', 'evicted_lagging']);
});

test('a short lag moves no session', async () => {
  await aSession();
  for (let times = 0; times < 5; times += 1) {
    lab.decide({ read: onTwo(LAGGING) });
    await clock.advance(2000);
    lab.decide({ read: onOne() });
    await clock.advance(2000);
  }
  expect(lab.reasons()).toEqual([]);
});

test('sessions stay on a lagging member while only the fallback takes new ones', async () => {
  const session = await aSession();
  lab.decide({ read: onTwo(LAGGING, { fallback: FALLBACK }) });
  await clock.advance(100_000);
  expect(lab.reasons()).toEqual([]);
  lab.decide({ read: onTwo(LAGGING) });
  await clock.advance(2000);
  lab.decide({ read: onTwo(LAGGING, { fallback: FALLBACK }) });
  await clock.advance(100_000);
  expect(lab.reasons()).toEqual([]);
  lab.decide({ read: onTwo(LAGGING) });
  await clock.advance(3000);
  expect(await session.lastWords()).toMatchObject({ C: '57P01' });
});

test('the end of a fallback: its sessions drain, and the deadline closes the busy ones', async () => {
  lab.decide({
    read: onOne({ fallback: FALLBACK, others: { 'pg-1': { address: one.address, standing: STANDS_IN } } }),
  });
  const idle = await aSession();
  const busy = await aSession();
  await busy.ask();
  lab.decide({ read: onTwo(STANDS_BY) });
  await clock.advance(3000);
  expect(await idle.lastWords()).toMatchObject({
    D: 'pg-1: fallback, used only while the pool has no other eligible member: pool write',
  });
  await clock.advance(59_999);
  await until('one close', () => lab.reasons().length === 1);
  await clock.advance(1);
  await until('two closes', () => lab.reasons().length === 2);
  expect(lab.reasons()).toEqual(['evicted_fallback_over', 'evicted_fallback_over']);
});

test('a promoted member: its read sessions drain to a replica', async () => {
  const session = await aSession();
  lab.decide({ read: onTwo(STANDS_BY) });
  await clock.advance(3000);
  expect(await session.lastWords()).toMatchObject({ D: 'pg-1 was promoted and left pool read' });
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['evicted_promoted']);
});

test('a drain ends when no other member is eligible: a session that is idle only then stays', async () => {
  const busy = await aSession();
  await busy.ask();
  lab.decide({ read: onTwo(LAGGING) });
  await clock.advance(5000);
  lab.decide({ read: onTwo(LAGGING, { fallback: FALLBACK }) });
  await busy.answer('I');
  await clock.advance(100_000);
  expect(lab.reasons()).toEqual([]);
  expect(lab.proxy.counts().get('read')?.states).toMatchObject({ relaying: 1 });
});

test('a reason found at the start of a drain replaces the old one, and ends with the member’s return', async () => {
  const busy = await aSession();
  await busy.ask();
  lab.decide({ read: onTwo(LAGGING) });
  onDecideIfDue = () => {
    onDecideIfDue = () => undefined;
    lab.decide({ read: onTwo({ kind: 'leave', cause: 'tagged_out', why: { code: 'tagged_out' } }) });
  };
  await clock.advance(3000);
  lab.decide({ read: onOne() });
  await busy.answer('I');
  await clock.advance(100_000);
  expect(lab.reasons()).toEqual([]);
  expect(lab.proxy.counts().get('read')?.states).toMatchObject({ relaying: 1 });
});
