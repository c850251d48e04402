// A member that came back gets its share of the open sessions: its pace, its end, and what keeps a session where it is.
import { beforeEach, expect, test } from 'vitest';
import { Spreader } from '../../../../src/proxy/moves/spreader.ts';
import { ADDRESSES, SpreaderLab, type Name } from '../../../support/labs/spreader-lab.ts';
import { aPool } from '../../../support/values/builders.ts';

let lab: SpreaderLab;

beforeEach(() => {
  lab = new SpreaderLab();
});

test('its share is there within a minute, within 5 %, and no session has moved twice', async () => {
  lab.comesBack(300);
  await lab.clock.advance(60_000);
  expect(lab.counts()[2]).toBeGreaterThanOrEqual(95);
  expect(lab.counts()[2]).toBeLessThanOrEqual(105);
  expect([...lab.moves.values()].every((times) => times.length === 1)).toBe(true);
  expect(lab.clock.pending()).toBe(0);
});

test('at most so many in a second as configured, after one that goes alone', async () => {
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 4 } });
  lab.comesBack(300);
  await lab.clock.advance(5_000);
  expect(lab.counts()[2]).toBe(0);
  await lab.clock.advance(100);
  expect(lab.counts()[2]).toBe(1);
  await lab.clock.advance(10_000);
  expect(lab.counts()[2]).toBeGreaterThan(30);
  expect(lab.counts()[2]).toBeLessThanOrEqual(44);
  expect([...lab.moves.keys()].some((id) => id > 75 && id <= 150)).toBe(true);
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  await lab.clock.advance(1_000);
  expect(lab.counts()[2]).toBeGreaterThan(60);
});

test('without other processes, beside a pool that owes nobody, as one without a route', async () => {
  lab.spreader = new Spreader(lab.options());
  lab.otherPools = [aPool({ name: 'other', rebalance: { perSecond: 50 } })];
  lab.comesBack(300);
  await lab.clock.advance(60_000);
  expect(lab.counts()[2]).toBeGreaterThanOrEqual(95);
});

test('a member that has its share before it has settled gets that of the sessions that come by then', async () => {
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(2);
  await lab.clock.advance(3_000);
  lab.open('a', 150);
  lab.open('b', 150);
  await lab.clock.advance(60_000);
  expect(lab.counts()[2]).toBeGreaterThanOrEqual(95);
});

test('a slow pace is kept, too', async () => {
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 1 } });
  lab.comesBack(300);
  await lab.clock.advance(25_100);
  expect(lab.counts()[2]).toBeGreaterThan(17);
  expect(lab.counts()[2]).toBeLessThanOrEqual(22);
});

test('sessions on their way count as arrived: no more leave than the member is to get', async () => {
  lab.moveMs = 5_000;
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(300);
  await lab.clock.advance(11_000);
  const before = lab.asked;
  await lab.clock.advance(60_000);
  expect(before).toBeGreaterThan(1);
  expect(lab.asked).toBeLessThanOrEqual(105);
  expect(lab.counts()[2]).toBeGreaterThanOrEqual(95);
  expect(Math.abs((lab.counts()[0] ?? 0) - (lab.counts()[1] ?? 0))).toBeLessThanOrEqual(10);
});

test.each([
  [0, [52, 100, 100]],
  [1_500, [49, 99, 100]],
])('on their way they count once: busy for %d ms, parked, and while they log in', async (durationMs, expected) => {
  [lab.busyMs, lab.moveMs] = [durationMs, 20_000];
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 2 } });
  lab.comesBack(300);
  const found: number[] = [];
  for (const ms of [50_100, 25_000, 40_000]) {
    await lab.clock.advance(ms);
    found.push(lab.asked);
  }
  expect(found).toEqual(expected);
});

test('two members that came back get their first session at the same time', async () => {
  lab.moveMs = 5_000;
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.decide(lab.opens('a', 'b', 'c'));
  lab.decide(lab.opens('a'));
  lab.open('a', 90);
  lab.decide(lab.opens('a', 'b', 'c'));
  await lab.clock.advance(9_900);
  expect([lab.asked, lab.cause]).toEqual([2, 'rebalance']);
  await lab.clock.advance(60_000);
  expect(lab.counts()).toEqual([30, 30, 30]);
});

test('sessions that can never move do not make the others wait', async () => {
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 1 } });
  lab.decide(lab.opens('a', 'b', 'c'));
  lab.decide(lab.opens('a', 'b'));
  for (let made = 0; made < 300; made += 1) lab.openOne('a', made % 10 === 0);
  lab.decide(lab.opens('a', 'b', 'c'));
  await lab.clock.advance(25_100);
  expect(lab.counts()[2]).toBeGreaterThan(17);
});

test('two processes share the rate, and each moves its part', async () => {
  lab.isShared = true;
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 8 } });
  lab.comesBack(300);
  await lab.clock.advance(15_600);
  expect(lab.counts()[2]).toBeGreaterThan(20);
  expect(lab.counts()[2]).toBeLessThanOrEqual(44);
});

test('of two processes each moves a session or leaves it to the other', async () => {
  const firsts: number[] = [];
  for (let round = 1; round <= 8; round += 1) {
    lab = new SpreaderLab();
    [lab.seed, lab.isShared] = [round * 79_190_000, true];
    lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
    lab.comesBack(6);
    await lab.clock.advance(5_100);
    firsts.push(lab.asked);
  }
  expect(new Set(firsts)).toEqual(new Set([0, 1]));
});

test('sessions that end on one member move nobody', async () => {
  lab.decide(lab.opens('a', 'b'));
  lab.open('a', 90);
  lab.open('b', 2);
  await lab.clock.advance(3_600_000);
  expect([lab.asked, lab.clock.pending()]).toEqual([0, 0]);
});

test('a member that goes away and comes back every minute: no session moves more than once in 10 minutes', async () => {
  lab.comesBack(60);
  for (let minute = 0; minute < 40; minute += 1) {
    await lab.clock.advance(50_000);
    lab.decide(lab.opens('a', 'b'));
    await lab.clock.advance(10_000);
    lab.decide(lab.opens('a', 'b', 'c'));
  }
  for (const times of lab.moves.values()) {
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
    lab.pool = aPool({ balance: 'latency', slowStartMs: 30_000, rebalance: { perSecond: 50 } });
    const note = (member: Name, durationMs: number): void => {
      const listener = lab.picker.latency.listener(lab.pool, { member, address: ADDRESSES[member] });
      listener?.(durationMs * 10 ** lab.random(), lab.clock.now());
    };
    lab.comesBack(150);
    for (let second = 0; second < 3_600; second += 1) {
      for (let made = 0; made < 5; made += 1) {
        note('a', 1);
        note('b', 1);
        note('c', slower);
      }
      await lab.clock.advance(1_000);
    }
    expect(lab.counts()[2]).toBeGreaterThanOrEqual(of[0]);
    expect(lab.counts()[2]).toBeLessThanOrEqual(of[1]);
    expect([...lab.moves.values()].every((times) => times.length === 1)).toBe(true);
  },
);

test('a session that cannot move is asked once in 10 minutes', async () => {
  lab.answer = 'stays';
  lab.comesBack(6);
  await lab.clock.advance(300_000);
  expect(lab.asked).toBe(6);
});

test('a move that ends its session is the last one to that member', async () => {
  lab.answer = 'fails';
  lab.comesBack(60);
  await lab.clock.advance(600_000);
  expect([lab.asked, lab.clock.pending()]).toEqual([1, 0]);
});

test('a client that says goodbye on its way ends the moves of nobody else', async () => {
  lab.answer = 'says goodbye';
  lab.comesBack(60);
  await lab.clock.advance(60_000);
  expect(lab.asked).toBeGreaterThan(1);
});

test('a pool with one member looks for nobody', async () => {
  lab.decide(lab.opens('a'));
  lab.decide(lab.opens('c'));
  await lab.clock.advance(10_000);
  expect(lab.clock.pending()).toBe(0);
});

test('a stop before the first table is one, too', () => {
  lab.spreader.stop();
  lab.comesBack(60);
  expect(lab.clock.pending()).toBe(0);
});

test('a member that is behind is tried with one session in 30 s', async () => {
  lab.answer = 'comes back';
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(60);
  await lab.clock.advance(90_000);
  expect(lab.asked).toBeGreaterThan(1);
  expect(lab.asked).toBeLessThanOrEqual(3);
});

test('a session that came back from a member that is behind leaves for it once in 10 minutes', async () => {
  lab.answer = 'comes back';
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(6);
  await lab.clock.advance(500_000);
  expect(lab.asked).toBe(6);
});

test('a member that has had its share gets no more, however unequal the others are', async () => {
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(0);
  lab.open('a', 90);
  lab.open('b', 6);
  await lab.clock.advance(30_000);
  expect(lab.counts()).toEqual([58, 6, 32]);
  lab.open('a', 60);
  await lab.clock.advance(30_000);
  expect([lab.counts(), lab.clock.pending()]).toEqual([[118, 6, 32], 0]);
});

test.each([
  ['no section moves', () => (lab.hasMoves = false)],
  ['rebalance: false', () => (lab.pool = aPool({ rebalance: undefined }))],
])('nobody moves: %s', async (_, change) => {
  change();
  lab.comesBack(60);
  await lab.clock.advance(300_000);
  expect([lab.asked, lab.clock.pending()]).toEqual([0, 0]);
});

test.each([
  ['the pool uses its fallback', { fallback: { pool: 'write', maxSessions: 100 } }],
  ['every member lags', { lagging: { maxSessions: 100 } }],
])('while %s nobody moves', async (_, means) => {
  lab.comesBack(60);
  lab.decide({ ...lab.opens('a', 'b', 'c'), ...means });
  await lab.clock.advance(60_000);
  expect(lab.asked).toBe(0);
});

test('a session that was busy all the time is asked again after 30 s', async () => {
  lab.answer = 'is busy';
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(6);
  await lab.clock.advance(34_000);
  expect(lab.asked).toBe(6);
  await lab.clock.advance(2_000);
  expect(lab.asked).toBe(12);
});

test('a reload takes the section moves away: nobody moves any more', async () => {
  lab.pool = aPool({ slowStartMs: 0, rebalance: { perSecond: 50 } });
  lab.comesBack(60);
  await lab.clock.advance(4_900);
  lab.hasMoves = false;
  await lab.clock.advance(60_000);
  expect([lab.asked, lab.clock.pending()]).toEqual([0, 0]);
});

test('a session that relays nothing is not asked', async () => {
  lab.state = 'parked';
  lab.comesBack(60);
  await lab.clock.advance(60_000);
  expect(lab.asked).toBe(0);
});

test('a way leads to the member for eight attempts, while the member is open', async () => {
  lab.answer = 'is busy';
  lab.comesBack(6);
  await lab.clock.advance(40_000);
  const routes = Array.from({ length: 9 }, () => lab.way?.next());
  expect(routes.map((route) => route?.suits({ member: 'c', address: ADDRESSES.c }))).toEqual([
    ...Array(8).fill(true),
    undefined,
  ]);
  expect(routes[0]?.suits({ member: 'a', address: ADDRESSES.a })).toBe(false);
  lab.asked = 0;
  await lab.clock.advance(60_000);
  expect(lab.asked).toBeGreaterThan(0);
  lab.decide(lab.opens('a', 'b'));
  expect(lab.way?.next()).toBeUndefined();
  lab.decide({});
  expect(lab.way?.next()).toBeUndefined();
});

test('after stop() it leaves no timer, and begins none', () => {
  lab.comesBack(60);
  lab.spreader.stop();
  lab.spreader.review();
  expect(lab.clock.pending()).toBe(0);
});
