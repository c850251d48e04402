// G6 over random histories: degraded reads only where everybody else is out, and only for lag.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { RoutingPolicy, WhenAllLagging } from '../../../src/core/policy.ts';
import type { RoutingTable, Standing } from '../../../src/core/routing-table.ts';
import { poolOf } from '../../support/builders.ts';
import { momentsOf, worlds } from './histories.ts';

/** With `read` on its own. What it does when everybody lags changes no snapshot. */
function reading(policy: RoutingPolicy, whenAllLagging: WhenAllLagging): RoutingPolicy {
  const pools = policy.pools.map((pool) =>
    pool.name === 'read' ? { ...pool, fallback: undefined, whenAllLagging } : pool,
  );
  return { ...policy, pools };
}

function standingsOf(table: RoutingTable): readonly (readonly [string, Standing])[] {
  return [...poolOf(table, 'read').standings];
}

test('least-lagging opens nobody who is out for more than lag, and nobody while somebody is open', () => {
  let degraded = 0;
  fc.assert(
    fc.property(worlds, (world) => {
      for (const { snapshot, now } of momentsOf(world)) {
        const usual = new Map(standingsOf(decideRoutes(reading(world.policy, 'refuse'), snapshot, now)));
        const table = decideRoutes(reading(world.policy, 'least-lagging'), snapshot, now);
        const opened = standingsOf(table).filter(([, { why }]) => why.code === 'least-lagging');
        degraded += opened.length;
        if ([...usual.values()].some(({ kind }) => kind === 'open')) expect(new Map(standingsOf(table))).toEqual(usual);
        for (const [member] of opened) {
          expect(usual.get(member)?.why.code).toBe('lagging');
          const [newest] = snapshot.members.get(member)?.positions ?? [];
          expect(now - (newest?.at ?? -Infinity)).toBeLessThan(world.policy.probe.readFreshMs);
        }
        const { route } = poolOf(table, 'read');
        const isCapped = route.kind === 'open' && route.lagging !== undefined;
        expect(isCapped).toBe(opened.length > 0 && snapshot.complete);
      }
    }),
    { numRuns: 1000 },
  );
  expect(degraded).toBeGreaterThan(0);
});

test('the decision with least-lagging is constant on [decidedAt, validUntil)', () => {
  fc.assert(
    fc.property(worlds, fc.integer({ min: 0, max: 99 }), (world, percent) => {
      const policy = reading(world.policy, 'least-lagging');
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
  );
});
