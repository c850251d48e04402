// A pool of three in simulated time, with sessions that come and go: a slow member has few of them, gets its share
// again when it has recovered, and noise takes nothing from anybody.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickTarget } from '../../../src/core/balance.ts';
import { latencyShares, withObservation, type LatencyEstimates } from '../../../src/core/latency.ts';
import type { Target } from '../../../src/core/routing-table.ts';

const [A, B, C] = ['a', 'b', 'c'].map((member): Target => ({ member, address: { host: member, port: 5432 } }));
const STEP_MS = 20;

interface Played {
  readonly at: number;
  readonly member: string;
}

interface Pace {
  readonly seed: number;
  /** Sessions that begin in a second. */
  readonly perSecond: number;
  readonly lifeMs: number;
  readonly seconds: number;
  /** How many times slower member c is. */
  readonly slowerAt: (ms: number) => number;
}

/** The sessions in order, and the requests. A request takes 1 ms, give or take a factor of e. */
function play({ seed, perSecond, lifeMs, seconds, slowerAt }: Pace): { sessions: Played[]; requests: Played[] } {
  if (A === undefined || B === undefined || C === undefined) throw new Error('three members');
  let state = seed;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  const observed = new Map<string, LatencyEstimates>(
    ['a', 'b', 'c'].map((name) => [name, { requests: undefined, logins: undefined }]),
  );
  const [sessions, requests]: [Played[], Played[]] = [[], []];
  let live: Played[] = [];
  for (let now = 0; now < seconds * 1000; now += STEP_MS) {
    live = live.filter(({ at }) => at > now - lifeMs);
    if (random() < (perSecond * STEP_MS) / 1000) {
      const shares = latencyShares(observed, now);
      const { target } = pickTarget('latency', [A, B, C], {
        sessionsOn: (member) => live.filter((one) => one.member === member).length,
        weightOf: ({ member }) => shares.get(member) ?? 1,
        random,
        credits: new Map(),
        clientAddress: '',
      });
      const session = { at: now, member: target.member };
      sessions.push(session);
      live.push(session);
    }
    for (const { member } of live) {
      if (random() > 0.1) continue;
      requests.push({ at: now, member });
      const durationMs = (member === 'c' ? slowerAt(now) : 1) * Math.exp(2 * random() - 1);
      const before = observed.get(member);
      observed.set(member, { requests: withObservation(before?.requests, durationMs, now), logins: undefined });
    }
  }
  return { sessions, requests };
}

/** The part on the member, of all between two instants in seconds. */
function shareOf(member: string, played: readonly Played[], from: number, to: number): number {
  const some = played.filter(({ at }) => at >= from * 1000 && at < to * 1000);
  return some.filter((one) => one.member === member).length / some.length;
}

function recovers(ms: number): number {
  return ms < 60_000 ? 10 : 1;
}

const seeds = fc.integer({ min: 1, max: 2_147_483_646 });

test('one of three is ten times as slow and has under a fiftieth; it recovers, and has its third', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const { sessions, requests } = play({ seed, perSecond: 40, lifeMs: 1_000, seconds: 150, slowerAt: recovers });
      expect(shareOf('c', requests, 10, 60)).toBeLessThan(0.02);
      const back = shareOf('c', sessions, 110, 150);
      expect(back).toBeGreaterThan(0.27);
      expect(back).toBeLessThan(0.4);
    }),
    { numRuns: 10 },
  );
});

test('few sessions: a slow member is tried now and then, and no more', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const { sessions } = play({ seed, perSecond: 1, lifeMs: 2_000, seconds: 400, slowerAt: () => 10 });
      const share = shareOf('c', sessions, 20, 400);
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThan(0.1);
    }),
    { numRuns: 10 },
  );
});

test('noise alone: each has about a third', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const { sessions } = play({ seed, perSecond: 20, lifeMs: 1_000, seconds: 100, slowerAt: () => 1 });
      for (const member of ['a', 'b', 'c']) {
        const share = shareOf(member, sessions, 0, 100);
        expect(share).toBeGreaterThan(0.28);
        expect(share).toBeLessThan(0.39);
      }
    }),
    { numRuns: 10 },
  );
});

test('shares are above 0 and at most 1, the fastest has 1, and a slower member never has more', () => {
  const estimate = fc.option(
    fc.record({ ms: fc.double({ min: 0, max: 1e6, noNaN: true }), count: fc.integer({ min: 1, max: 99 }) }),
    { nil: undefined },
  );
  fc.assert(
    fc.property(fc.array(estimate, { minLength: 1, maxLength: 5 }), fc.nat({ max: 100_000 }), (given, now) => {
      const members = new Map<string, LatencyEstimates>();
      for (const [index, one] of given.entries()) {
        let requests: LatencyEstimates['requests'];
        for (let made = 0; made < (one?.count ?? 0); made += 1) requests = withObservation(requests, one?.ms ?? 0, 0);
        members.set(`${index}`, { requests, logins: undefined });
      }
      const shares = [...latencyShares(members, now).values()];
      for (const share of shares) expect(share > 0 && share <= 1).toBe(true);
      expect(Math.max(...shares)).toBe(1);
      for (const [i, one] of given.entries()) {
        for (const [j, other] of given.entries()) {
          if (one === undefined || other === undefined || one.count !== other.count || one.ms < other.ms) continue;
          expect(shares[i]).toBeLessThanOrEqual((shares[j] ?? 0) + 1e-9);
        }
      }
    }),
  );
});
