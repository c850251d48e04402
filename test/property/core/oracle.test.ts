import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { READ_CHECK } from '../../support/values/builders.ts';
import { openIn, routeOf } from '../../support/values/builders.ts';
import { comebacks } from './comebacks.ts';
import { momentsOf, snapshotAfter, worlds, ZONE_CHECK } from './histories.ts';
import { whoIsThere, whoReads, whyWritesWait, writersAllowed } from './oracle.ts';
import { rounds } from '../../support/runner/ci.ts';

describe('a second opinion from the whole list of observations', () => {
  test('G1, G2: both agree on the member that takes writes', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { snapshot, now, seen } of momentsOf(world)) {
          const open = openIn(decideRoutes(world.policy, snapshot, now), 'write');
          expect(writersAllowed(world, seen, now), `at ${now}`).toContainEqual(open);
        }
      }),
      { numRuns: rounds(50, 200) },
    );
  });

  test('both agree on the primary that comes back on a lower timeline or with another identity', () => {
    fc.assert(
      fc.property(comebacks, (world) => {
        for (const { snapshot, now, seen } of momentsOf(world)) {
          const open = openIn(decideRoutes(world.policy, snapshot, now), 'write');
          expect(writersAllowed(world, seen, now), `at ${now}`).toContainEqual(open);
        }
      }),
      { numRuns: rounds(15, 60) },
    );
    const accepted = fc
      .sample(comebacks, { numRuns: 200, seed: 1 })
      .flatMap((world) => snapshotAfter(world).accepted ?? []);
    for (const kind of ['timeline', 'cluster_identity']) {
      const share = accepted.filter((one) => one.kind === kind).length / 200;
      expect(share, `histories of both outcomes: ${kind}`).toBeGreaterThan(0.1);
      expect(share).toBeLessThan(0.45);
    }
  });

  test('G13: both agree on the reason to hold, and refuse no client while the state may still change by itself', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { snapshot, now, seen } of momentsOf(world)) {
          const table = decideRoutes(world.policy, snapshot, now);
          const why = whyWritesWait(world, seen, now);
          const write = routeOf(table, 'write');
          // A standby cluster has no primary to hold for; a switchover and a recovery are reasons of their own.
          if (write.kind === 'hold' && write.cause !== 'switchover' && write.cause !== 'in_recovery')
            expect({ now, why }).toEqual({ now, why: write.cause });
          for (const pool of ['read', 'zone']) {
            const route = routeOf(table, pool);
            if (route.kind === 'closed') expect({ now, pool, why }).toEqual({ now, pool, why: 'settled' });
            if (route.kind === 'hold' && why === 'starting') expect(['starting', 'switchover']).toContain(route.cause);
            if (route.kind === 'hold' && route.cause === 'starting')
              expect({ now, why }).toEqual({ now, why: 'starting' });
          }
        }
      }),
      { numRuns: rounds(37, 150) },
    );
  });

  test('both agree on the readers of a pool without a lag limit', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { snapshot, now, seen } of momentsOf(world)) {
          const table = decideRoutes(world.policy, snapshot, now);
          const route = routeOf(table, 'zone');
          const own = route.kind === 'open' && route.fallback === undefined ? openIn(table, 'zone') : [];
          const lends = world.policy.pools.some(({ name, fallback }) => name === 'zone' && fallback !== undefined);
          const readers = whoReads(world, ZONE_CHECK, seen, now);
          const there = whoIsThere(world, readers, lends ? openIn(table, 'read') : [], seen);
          expect({ now, own }).toEqual({ now, own: there });
        }
      }),
      { numRuns: rounds(37, 150) },
    );
  });

  test('G5: the lag estimate only ever excludes members that the API allows', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        for (const { snapshot, now, seen } of momentsOf(world)) {
          const table = decideRoutes(world.policy, snapshot, now);
          const route = routeOf(table, 'read');
          const own = route.kind === 'open' && route.fallback === undefined ? openIn(table, 'read') : [];
          const allowed = whoReads(world, READ_CHECK, seen, now);
          expect(own.filter((member) => !allowed.includes(member))).toEqual([]);
        }
      }),
      { numRuns: rounds(50, 200) },
    );
  });
});
