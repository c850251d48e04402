// The times of members that are kept, and those that are shown. The estimate itself is that of core/latency.
import { beforeEach, expect, test } from 'vitest';
import { ObservedLatency } from '../../../../src/proxy/connect/observed-latency.ts';
import { aTableOf, DEMOTED } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const POOL = { name: 'read', balance: 'latency' } as const;
const OTHER_POOL = { name: 'reports', balance: 'latency' } as const;
const BY_TURNS = { name: 'read', balance: 'round_robin' } as const;
const A = { host: 'a', port: 5432 };
const B = { host: 'b', port: 5432 };
const SERVER = { member: 'b', address: B };
const BRANCH = {
  branch: { id: 'br-1', name: 'pr-1' },
  address: B,
  tls: 'off',
} as const;

let clock: ManualClock;
let latency: ObservedLatency;

beforeEach(() => {
  clock = new ManualClock();
  latency = new ObservedLatency(clock);
  latency.tableChanged(aTableOf({ read: { open: { a: A, b: B } }, reports: { open: { b: B } } }));
});

test('replies and logins are kept apart, with the share that follows', () => {
  const listener = latency.listener(POOL, SERVER);
  for (let count = 0; count < 10; count += 1) {
    listener?.(100, clock.now());
    latency.login(POOL, 'b', 50);
  }
  latency.login(POOL, 'a', 1);
  const shown = latency.shown(POOL);
  expect([...shown.keys()]).toEqual(['a', 'b']);
  expect(shown.get('a')).toEqual({ requestMs: undefined, loginMs: 1, at: clock.now(), share: 1 });
  expect(shown.get('b')?.requestMs).toBeCloseTo(100);
  expect(shown.get('b')?.loginMs).toBeCloseTo(50);
  expect(latency.share(POOL, 'b')).toBeLessThan(0.5);
  expect([latency.share(POOL, 'a'), latency.share(POOL, 'unknown')]).toEqual([1, 1]);
});

test('a reply and a login leave each other as they are', () => {
  latency.login(POOL, 'b', 50);
  latency.listener(POOL, SERVER)?.(100, clock.now());
  latency.login(POOL, 'b', 50);
  expect(latency.shown(POOL).get('b')).toMatchObject({ requestMs: expect.closeTo(100), loginMs: expect.closeTo(50) });
});

test('the newest observation is that of a reply, or of a login', async () => {
  const newest = (): number | undefined => latency.shown(POOL).get('b')?.at;
  latency.listener(POOL, SERVER)?.(100, clock.now());
  expect(newest()).toBe(clock.now());
  await clock.advance(5);
  latency.login(POOL, 'b', 50);
  expect(newest()).toBe(clock.now());
  await clock.advance(5);
  latency.listener(POOL, SERVER)?.(100, clock.now());
  expect(newest()).toBe(clock.now());
});

test('a connect that failed counts as a login of a second', () => {
  latency.loginFailed(POOL, 'b');
  expect(latency.shown(POOL).get('b')?.loginMs).toBeCloseTo(1_000);
});

test('each pool has its own', () => {
  latency.login(POOL, 'b', 50);
  expect(latency.shown(OTHER_POOL)).toEqual(
    new Map([['b', { requestMs: undefined, loginMs: undefined, at: undefined, share: 1 }]]),
  );
});

test('nothing is observed of a pool with another balance, and no reply of a branch', () => {
  latency.login(BY_TURNS, 'b', 50);
  expect(latency.shown(POOL).get('b')?.loginMs).toBeUndefined();
  for (let count = 0; count < 10; count += 1) latency.login(POOL, 'b', 500);
  latency.login(POOL, 'a', 1);
  expect([latency.share(BY_TURNS, 'b'), latency.shown(BY_TURNS)]).toEqual([1, new Map()]);
  expect([latency.listener(BY_TURNS, SERVER), latency.listener(POOL, BRANCH)]).toEqual([undefined, undefined]);
});

test('a member that closes is not shown, and has its times when it opens again', () => {
  latency.login(POOL, 'b', 50);
  latency.tableChanged(aTableOf({ read: { open: { a: A }, others: { b: { address: B, standing: DEMOTED } } } }));
  expect([...latency.shown(POOL).keys()]).toEqual(['a']);
  latency.tableChanged(aTableOf({ read: {} }));
  expect(latency.shown(POOL).size).toBe(0);
});

test('a member that the pool does not know any more is forgotten, and so is a pool', () => {
  const both = aTableOf({ read: { open: { a: A, b: B } } });
  const loginMs = (member: string): number | undefined => latency.shown(POOL).get(member)?.loginMs;
  for (const member of ['a', 'b']) latency.login(POOL, member, 50);
  latency.tableChanged(aTableOf({ read: { open: { a: A }, others: { b: { address: B, standing: DEMOTED } } } }));
  latency.tableChanged(both);
  expect([loginMs('a'), loginMs('b')]).toEqual([expect.closeTo(50), expect.closeTo(50)]);
  latency.tableChanged(aTableOf({ read: { open: { a: A } } }));
  latency.tableChanged(both);
  expect([loginMs('a'), loginMs('b')]).toEqual([expect.closeTo(50), undefined]);
  latency.tableChanged(aTableOf({}));
  expect(latency.shown(POOL).size).toBe(0);
  latency.tableChanged(both);
  expect([loginMs('a'), loginMs('b')]).toEqual([undefined, undefined]);
});

test('a time ages', async () => {
  for (let count = 0; count < 10; count += 1) latency.login(POOL, 'b', 100);
  latency.login(POOL, 'a', 1);
  const fresh = latency.share(POOL, 'b');
  await clock.advance(60_000);
  expect(latency.share(POOL, 'b')).toBeGreaterThan(fresh);
});
