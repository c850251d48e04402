// G6 over random histories: degraded reads begin only if every other member is excluded, and only because of lag.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { RoutingPolicy, WhenAllLagging } from '../../../src/model/policy.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import type { Standing } from '../../../src/core/standing.ts';
import {
  aList,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  MB,
  openIn,
  poolOf,
} from '../../support/values/builders.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { momentsOf, worlds } from './histories.ts';
import { rounds } from '../../support/runner/ci.ts';

/** Gives `read` its own policy. The policy for lagging members changes no snapshot. */
function reading(policy: RoutingPolicy, whenAllLagging: WhenAllLagging): RoutingPolicy {
  const pools = policy.pools.map((pool) =>
    pool.name === 'read' ? { ...pool, fallback: undefined, whenAllLagging } : pool,
  );
  return { ...policy, pools };
}

function standingsOf(table: RoutingTable): readonly (readonly [string, Standing])[] {
  return [...poolOf(table, 'read').standings];
}

test('least_lagging opens only members that are excluded for lag alone, and none while another member is open', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      for (const { snapshot, now } of momentsOf(world)) {
        const usual = new Map(standingsOf(decideRoutes(reading(world.policy, 'refuse'), snapshot, now)));
        const table = decideRoutes(reading(world.policy, 'least_lagging'), snapshot, now);
        const opened = standingsOf(table).filter(([, { why }]) => why.code === 'least_lagging');
        if ([...usual.values()].some(({ kind }) => kind === 'open')) expect(new Map(standingsOf(table))).toEqual(usual);
        for (const [member] of opened) {
          expect(['lagging', 'stale']).toContain(usual.get(member)?.why.code);
          const [newest] = snapshot.members.get(member)?.positions ?? [];
          expect(now - (newest?.at ?? -Infinity)).toBeLessThan(world.policy.probe.readMaxAgeMs);
        }
        const { route } = poolOf(table, 'read');
        const isCapped = route.kind === 'open' && route.lagging !== undefined;
        expect(isCapped).toBe(opened.length > 0 && snapshot.complete);
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});

test('the decision with least_lagging is constant on [decidedAt, validUntil)', () => {
  fc.assert(
    fc.property(worlds, fc.integer({ min: 0, max: 99 }), (world, percent) => {
      const policy = reading(world.policy, 'least_lagging');
      for (const { snapshot, now } of momentsOf(world)) {
        const table = decideRoutes(policy, snapshot, now);
        const span = Math.min(table.validUntil - now, 1_000_000);
        for (const at of [now + Math.floor((span * percent) / 100), now + span - 1]) {
          const later = decideRoutes(policy, snapshot, at);
          expect(later.pools).toEqual(table.pools);
          expect(later.validUntil).toBe(table.validUntil);
        }
      }
    }),
    { numRuns: rounds(25, 100) },
  );
});

test('of two lagging members the least lagging are open, in whole limits; a member without lag is open alone', () => {
  const positions = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 })), {
    minLength: 2,
    maxLength: 4,
  });
  const names = ['pg-2', 'pg-3'];
  fc.assert(
    fc.property(positions, (ticks) => {
      const policy = aPolicy({ pools: [aWritePool(), aPool({ whenAllLagging: 'least_lagging' })] });
      const history = ticks.flatMap((replayed, index): readonly Observation[] => [
        isPrimary('pg-1', index * 1000, { location: 200 * MB }),
        ...names.map((name, i) => isReplica(name, index * 1000, { replayed: (replayed[i] ?? 0) * MB })),
      ]);
      const table = aTable(policy, ticks.length * 1000 - 900, aList(0, 'pg-1', ...names), ...history);
      // Both exceed the limit in the last two answers; two answers exclude a reader.
      const lags = names.map((_, i) => ticks.slice(-2).map((replayed) => 200 - (replayed[i] ?? 0)));
      const inTime = names.filter((_, i) => lags[i]?.some((lag) => lag <= 16));
      const bounds = lags.map((recent) => Math.floor((recent.at(-1) ?? 0) / 16));
      const least = names.filter((_, i) => bounds[i] === Math.min(...bounds));
      expect(openIn(table, 'read')).toEqual(inTime.length > 0 ? inTime : least);
    }),
    { numRuns: rounds(25, 100) },
  );
});
