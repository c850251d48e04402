// A member that came back gets its share of the open sessions: its pace, its end, and what keeps a session where it is.
import { beforeEach, expect, test } from 'vitest';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import { Picker } from '../../../../src/proxy/connect/picker.ts';
import { Spreader, type SpreaderOptions } from '../../../../src/proxy/moves/spreader.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import type { Movable, MoveGoal, SessionHandle } from '../../../../src/proxy/stage.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aPool } from '../../../support/values/builders.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';

const A = { host: 'a', port: 5432 };
const B = { host: 'b', port: 5432 };
const C = { host: 'c', port: 5432 };
const ADDRESSES = { a: A, b: B, c: C };
type Name = keyof typeof ADDRESSES;

let clock: ManualClock;
let registry: SessionRegistry;
let pool: PoolPolicy;
let otherPools: readonly PoolPolicy[];
let hasMoves: boolean;
let isShared: boolean;
/** The instants of the moves of each session. */
let moves: Map<number, number[]>;
let asked: number;
/** Until a session is idle, and from there to the member. */
let busyMs: number;
let moveMs: number;
let answer: 'moves' | 'stays' | 'is busy' | 'fails' | 'says goodbye' | 'comes back';
let state: SessionHandle['state'];
/** Why the last session that was asked is to move. */
let cause: string | undefined;
/** The way to the member, as the last session that was asked got it. */
let way: MoveGoal | undefined;
let table = aTableOf({});
let picker: Picker;
let spreader: Spreader;
let seed: number;

function random(): number {
  seed = (seed * 16_807) % 2_147_483_647;
  return seed / 2_147_483_647;
}

function setUp(): void {
  [clock, registry, moves, asked, answer, seed] = [
    new ManualClock(100_000),
    new SessionRegistry(),
    new Map(),
    0,
    'moves',
    7,
  ];
  [hasMoves, isShared, busyMs, moveMs, state] = [true, false, 0, 20, 'relaying'];
  otherPools = [];
  registry.learn(['read']);
  pool = aPool({ slowStartMs: 30_000, rebalance: { perSecond: 50 } });
  const drains = { hurry() {}, isClearing: () => false };
  picker = new Picker({ registry, drains, onEvent() {}, clock, random });
  const siblings = {
    get processes() {
      return isShared ? 2 : 1;
    },
  };
  spreader = new Spreader({ ...options(), siblings });
}

function options(): Omit<SpreaderOptions, 'siblings'> {
  return {
    clock,
    table: () => table,
    random,
    registry,
    pools: () => [...otherPools, pool],
    policy: () => (hasMoves ? {} : undefined),
    picker,
  };
}

beforeEach(setUp);

function decide(read: PoolPicture): void {
  table = aTableOf({ read });
  picker.tableChanged(table);
  spreader.review();
}

function opens(...names: readonly Name[]): PoolPicture {
  return { open: Object.fromEntries(names.map((name) => [name, ADDRESSES[name]])) };
}

function open(name: Name, count: number): void {
  for (let made = 0; made < count; made += 1) openOne(name);
}

function openOne(first: Name, isMovable = true): void {
  const id = registry.size() + 1;
  let at: Name | undefined = first;
  const movable: Movable = {
    quietSince: () => 0,
    request() {},
    requestWhenIdle(why, _, onProgress, goal) {
      asked += 1;
      [cause, way] = [why, goal];
      if (answer === 'is busy') return onProgress({ kind: 'stayed', reason: 'busy' });
      if (answer === 'stays') return onProgress({ kind: 'stayed', reason: 'listening' });
      if (answer === 'fails') return onProgress({ kind: 'failed', reason: 'move_restore', detail: undefined });
      if (answer === 'says goodbye') return onProgress({ kind: 'failed', reason: 'client_closed', detail: undefined });
      const suits = (answer === 'moves' ? goal?.next()?.suits : undefined) ?? (() => false);
      const to = (['a', 'b', 'c'] as const).find((member) => suits({ member, address: ADDRESSES[member] })) ?? first;
      clock.schedule(busyMs, () => {
        onProgress({ kind: 'parked' });
        registry.assign(session, undefined, assignment());
        at = undefined;
      });
      // While it logs in.
      clock.schedule(busyMs + moveMs / 2, () => {
        at = to;
        registry.assign(session, assignment());
      });
      clock.schedule(busyMs + moveMs, () => {
        moves.set(id, [...(moves.get(id) ?? []), clock.now()]);
        onProgress({ kind: 'moved', to });
      });
      return undefined;
    },
    abort() {},
    lose: () => false,
    ask() {},
    shown: () => ({ moved: 0 }),
  };
  const assignment = () => at && { member: at, address: ADDRESSES[at], isFallback: false, isLagging: false };
  const session = aSessionHandle({ id, pool: 'read', state, assignment, movable: isMovable ? movable : undefined });
  registry.add(session);
  registry.assign(session, assignment());
}

function counts(): readonly number[] {
  return ['a', 'b', 'c'].map((member) => registry.sessionsOn('read', member));
}

/** The members a, b and c were open; c went away, its sessions went to the others, and it has just come back. */
function comesBack(sessions: number): void {
  decide(opens('a', 'b', 'c'));
  decide(opens('a', 'b'));
  open('a', sessions / 2);
  open('b', sessions / 2);
  decide(opens('a', 'b', 'c'));
}

test('its share is there within a minute, within 5 %, and no session has moved twice', async () => {
  comesBack(300);
  await clock.advance(60_000);
  expect(counts()[2]).toBeGreaterThanOrEqual(95);
  expect(counts()[2]).toBeLessThanOrEqual(105);
  expect([...moves.values()].every((times) => times.length === 1)).toBe(true);
  expect(clock.pending()).toBe(0);
});

test('at most so many in a second as configured, after one that goes alone', async () => {
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 4 } });
  comesBack(300);
  await clock.advance(5_000);
  expect(counts()[2]).toBe(0);
  await clock.advance(100);
  expect(counts()[2]).toBe(1);
  await clock.advance(10_000);
  expect(counts()[2]).toBeGreaterThan(30);
  expect(counts()[2]).toBeLessThanOrEqual(44);
  expect([...moves.keys()].some((id) => id > 75 && id <= 150)).toBe(true);
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  await clock.advance(1_000);
  expect(counts()[2]).toBeGreaterThan(60);
});

test('without other processes, beside a pool that owes nobody, as one without a route', async () => {
  spreader = new Spreader(options());
  otherPools = [aPool({ name: 'other', rebalance: { perSecond: 50 } })];
  comesBack(300);
  await clock.advance(60_000);
  expect(counts()[2]).toBeGreaterThanOrEqual(95);
});

test('a member that has its share before it has settled gets that of the sessions that come by then', async () => {
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(2);
  await clock.advance(3_000);
  open('a', 150);
  open('b', 150);
  await clock.advance(60_000);
  expect(counts()[2]).toBeGreaterThanOrEqual(95);
});

test('a slow pace is kept, too', async () => {
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 1 } });
  comesBack(300);
  await clock.advance(25_100);
  expect(counts()[2]).toBeGreaterThan(17);
  expect(counts()[2]).toBeLessThanOrEqual(22);
});

test('sessions on their way count as arrived: no more leave than the member is to get', async () => {
  moveMs = 5_000;
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(300);
  await clock.advance(11_000);
  const before = asked;
  await clock.advance(60_000);
  expect(before).toBeGreaterThan(1);
  expect(asked).toBeLessThanOrEqual(105);
  expect(counts()[2]).toBeGreaterThanOrEqual(95);
  expect(Math.abs((counts()[0] ?? 0) - (counts()[1] ?? 0))).toBeLessThanOrEqual(10);
});

test.each([
  [0, [52, 100, 100]],
  [1_500, [49, 99, 100]],
])('on their way they count once: busy for %d ms, parked, and while they log in', async (durationMs, expected) => {
  [busyMs, moveMs] = [durationMs, 20_000];
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 2 } });
  comesBack(300);
  const found: number[] = [];
  for (const ms of [50_100, 25_000, 40_000]) {
    await clock.advance(ms);
    found.push(asked);
  }
  expect(found).toEqual(expected);
});

test('two members that came back get their first session at the same time', async () => {
  moveMs = 5_000;
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  decide(opens('a', 'b', 'c'));
  decide(opens('a'));
  open('a', 90);
  decide(opens('a', 'b', 'c'));
  await clock.advance(9_900);
  expect([asked, cause]).toEqual([2, 'rebalance']);
  await clock.advance(60_000);
  expect(counts()).toEqual([30, 30, 30]);
});

test('sessions that can never move do not make the others wait', async () => {
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 1 } });
  decide(opens('a', 'b', 'c'));
  decide(opens('a', 'b'));
  for (let made = 0; made < 300; made += 1) openOne('a', made % 10 === 0);
  decide(opens('a', 'b', 'c'));
  await clock.advance(25_100);
  expect(counts()[2]).toBeGreaterThan(17);
});

test('two processes share the rate, and each moves its part', async () => {
  isShared = true;
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 8 } });
  comesBack(300);
  await clock.advance(15_600);
  expect(counts()[2]).toBeGreaterThan(20);
  expect(counts()[2]).toBeLessThanOrEqual(44);
});

test('of two processes each moves a session or leaves it to the other', async () => {
  const firsts: number[] = [];
  for (let round = 1; round <= 8; round += 1) {
    setUp();
    [seed, isShared] = [round * 79_190_000, true];
    pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
    comesBack(6);
    await clock.advance(5_100);
    firsts.push(asked);
  }
  expect(new Set(firsts)).toEqual(new Set([0, 1]));
});

test('sessions that end on one member move nobody', async () => {
  decide(opens('a', 'b'));
  open('a', 90);
  open('b', 2);
  await clock.advance(3_600_000);
  expect([asked, clock.pending()]).toEqual([0, 0]);
});

test('a member that goes away and comes back every minute: no session moves more than once in 10 minutes', async () => {
  comesBack(60);
  for (let minute = 0; minute < 40; minute += 1) {
    await clock.advance(50_000);
    decide(opens('a', 'b'));
    await clock.advance(10_000);
    decide(opens('a', 'b', 'c'));
  }
  for (const times of moves.values()) {
    for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThan(600_000);
  }
});

// The estimates vary with the noise, and sessions go to the member alone, never back: over 12 seeds it had 46 to 57 of
// its 50. So 5 %, as with the other kinds of balance, is not promised here.
test.each([
  ['as fast as the others: its third, give or take a fifth', 1, 40, 60],
  ['ten times as slow: few', 10, 0, 3],
])(
  'balance: latency, a member that comes back is %s; an hour of noise moves nobody again',
  async (_, slower, ...of) => {
    pool = aPool({ balance: 'latency', slowStartMs: 30_000, rebalance: { perSecond: 50 } });
    const note = (member: Name, durationMs: number): void => {
      const listener = picker.latency.listener(pool, { member, address: ADDRESSES[member] });
      listener?.(durationMs * 10 ** random(), clock.now());
    };
    comesBack(150);
    for (let second = 0; second < 3_600; second += 1) {
      for (let made = 0; made < 5; made += 1) {
        note('a', 1);
        note('b', 1);
        note('c', slower);
      }
      await clock.advance(1_000);
    }
    expect(counts()[2]).toBeGreaterThanOrEqual(of[0]);
    expect(counts()[2]).toBeLessThanOrEqual(of[1]);
    expect([...moves.values()].every((times) => times.length === 1)).toBe(true);
  },
);

test('a session that cannot move is asked once in 10 minutes', async () => {
  answer = 'stays';
  comesBack(6);
  await clock.advance(300_000);
  expect(asked).toBe(6);
});

test('a move that ends its session is the last one to that member', async () => {
  answer = 'fails';
  comesBack(60);
  await clock.advance(600_000);
  expect([asked, clock.pending()]).toEqual([1, 0]);
});

test('a client that says goodbye on its way ends the moves of nobody else', async () => {
  answer = 'says goodbye';
  comesBack(60);
  await clock.advance(60_000);
  expect(asked).toBeGreaterThan(1);
});

test('a pool with one member looks for nobody', async () => {
  decide(opens('a'));
  decide(opens('c'));
  await clock.advance(10_000);
  expect(clock.pending()).toBe(0);
});

test('a stop before the first table is one, too', () => {
  spreader.stop();
  comesBack(60);
  expect(clock.pending()).toBe(0);
});

test('a member that is behind is tried with one session in 30 s', async () => {
  answer = 'comes back';
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(60);
  await clock.advance(90_000);
  expect(asked).toBeGreaterThan(1);
  expect(asked).toBeLessThanOrEqual(3);
});

test('a session that came back from a member that is behind leaves for it once in 10 minutes', async () => {
  answer = 'comes back';
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(6);
  await clock.advance(500_000);
  expect(asked).toBe(6);
});

test('a member that has had its share gets no more, however unequal the others are', async () => {
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(0);
  open('a', 90);
  open('b', 6);
  await clock.advance(30_000);
  expect(counts()).toEqual([58, 6, 32]);
  open('a', 60);
  await clock.advance(30_000);
  expect([counts(), clock.pending()]).toEqual([[118, 6, 32], 0]);
});

test.each([
  ['no section moves', () => (hasMoves = false)],
  ['rebalance: false', () => (pool = aPool({ rebalance: undefined }))],
])('nobody moves: %s', async (_, change) => {
  change();
  comesBack(60);
  await clock.advance(300_000);
  expect([asked, clock.pending()]).toEqual([0, 0]);
});

test.each([
  ['the pool uses its fallback', { fallback: { pool: 'write', maxSessions: 100 } }],
  ['every member lags', { lagging: { maxSessions: 100 } }],
])('while %s nobody moves', async (_, way) => {
  comesBack(60);
  decide({ ...opens('a', 'b', 'c'), ...way });
  await clock.advance(60_000);
  expect(asked).toBe(0);
});

test('a session that was busy all the time is asked again after 30 s', async () => {
  answer = 'is busy';
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(6);
  await clock.advance(34_000);
  expect(asked).toBe(6);
  await clock.advance(2_000);
  expect(asked).toBe(12);
});

test('a reload takes the section moves away: nobody moves any more', async () => {
  pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  comesBack(60);
  await clock.advance(4_900);
  hasMoves = false;
  await clock.advance(60_000);
  expect([asked, clock.pending()]).toEqual([0, 0]);
});

test('a session that relays nothing is not asked', async () => {
  state = 'parked';
  comesBack(60);
  await clock.advance(60_000);
  expect(asked).toBe(0);
});

test('a way leads to the member for eight attempts, while the member is open', async () => {
  answer = 'is busy';
  comesBack(6);
  await clock.advance(40_000);
  const routes = Array.from({ length: 9 }, () => way?.next());
  expect(routes.map((route) => route?.suits({ member: 'c', address: C }))).toEqual([...Array(8).fill(true), undefined]);
  expect(routes[0]?.suits({ member: 'a', address: A })).toBe(false);
  asked = 0;
  await clock.advance(60_000);
  expect(asked).toBeGreaterThan(0);
  decide(opens('a', 'b'));
  expect(way?.next()).toBeUndefined();
  decide({});
  expect(way?.next()).toBeUndefined();
});

test('after stop() it leaves no timer, and begins none', () => {
  comesBack(60);
  spreader.stop();
  spreader.review();
  expect(clock.pending()).toBe(0);
});
