// Read sessions go to members with fresh evidence, a known lag within the limit, and the primary's timeline. Only the
// policy allows other members.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aWritePool,
  isPrimary,
  MB,
  openIn,
  READ_CHECK,
  routeOf,
} from '../../support/values/builders.ts';
import { worlds } from './histories.ts';
import { everyTable } from './tables.ts';

const BOUND_MB = 16;
const ROUND_MS = 1000;

/**
 * One round of probes: the primary's position, the replica's replayed position, and the answer of the replica's API.
 */
interface Round {
  readonly megabytes: number;
  readonly behindMb: number;
  readonly status: 200 | 503;
  readonly timeline: number;
}

const rounds: fc.Arbitrary<readonly Round[]> = fc.array(
  fc.record({
    megabytes: fc.integer({ min: 100, max: 400 }),
    behindMb: fc.constantFrom(0, 1, BOUND_MB, BOUND_MB + 1, 40, 90),
    status: fc.constantFrom<200 | 503>(200, 200, 200, 503),
    timeline: fc.constantFrom(2, 2, 2, 2, 1),
  }),
  { minLength: 1, maxLength: 8 },
);

function historyOf(taken: readonly Round[]): readonly Observation[] {
  return taken.flatMap(({ megabytes, behindMb, status, timeline }, index): readonly Observation[] => {
    const at = index * ROUND_MS;
    const body = { role: 'replica', state: 'running', timeline, replayed: (megabytes - behindMb) * MB } as const;
    return [
      isPrimary('pg-1', at, { timeline: 2, location: megabytes * MB }),
      answered({ member: 'pg-2', check: READ_CHECK, at: at + 10, status, body }),
    ];
  });
}

test('G5: an open reader answered yes within 10 s, is on the primary’s timeline and is not known to lag', () => {
  fc.assert(
    fc.property(rounds, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 15_000 }), (taken, fall, laterMs) => {
      const policy = aPolicy({ probe: { fall }, pools: [aWritePool(), aPool()] });
      const all = [aList(0, 'pg-1', 'pg-2'), ...historyOf(taken)];
      const snapshot = all.reduce((known, observation) => observe(policy, known, observation), emptySnapshot('lab'));
      const lastAt = (taken.length - 1) * ROUND_MS + 10;
      const open = openIn(decideRoutes(policy, snapshot, lastAt + laterMs), 'read');
      const newest = taken.slice(-fall);
      const yesAt = taken.findLastIndex(({ status }) => status === 200) * ROUND_MS + 10;
      const isFresh = taken.some(({ status }) => status === 200) && lastAt + laterMs - yesAt < 10_000;
      const isBehind = newest.every(({ behindMb }) => behindMb > BOUND_MB);
      const isDenied = newest.length === fall && newest.every(({ status }) => status === 503);
      const isElsewhere = taken.at(-1)?.timeline !== 2;
      if (!isFresh || isBehind || isDenied || isElsewhere) expect(open).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('G6: a pool uses its fallback by its policy, within its cap, and only while no own member is open', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      everyTable(world, (table) => {
        for (const { name, fallback } of world.policy.pools) {
          const route = routeOf(table, name);
          if (route.kind !== 'open') continue;
          const own = [...(table.pools.get(name)?.standings ?? [])].filter(
            ([, { kind, why }]) => kind === 'open' && why.code !== 'fallback',
          );
          if (route.fallback === undefined) expect(own.map(([member]) => member)).toEqual(openIn(table, name));
          else expect({ own, lent: route.fallback }).toEqual({ own: [], lent: fallback });
        }
      });
    }),
  );
});
