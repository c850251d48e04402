import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { planActions } from '../../../src/core/actions.ts';
import { decideRoutes, emptyTable } from '../../../src/core/decide-routes.ts';
import { isSameAddress } from '../../../src/model/member.ts';
import type { EvictionCause } from '../../../src/model/close-reason.ts';
import type { LeaveMode, PoolPolicy } from '../../../src/model/policy.ts';
import type { PoolDecision, RoutingTable } from '../../../src/core/routing-table.ts';
import { leaveMode } from '../../../src/core/standing.ts';
import type { Standing } from '../../../src/core/standing.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import { momentsOf, worlds } from './histories.ts';
import type { World } from './histories.ts';

const STRENGTH: Readonly<Record<LeaveMode, number>> = { keep: 0, drain_idle: 1, drain: 2, move: 3, close: 4 };

const STILL_SERVES: readonly EvictionCause[] = ['lagging', 'check_failed', 'old_timeline', 'fallback_over'];

/** Sessions that could go on at their member drain only if another member of the same pool may take them. */
function wantedOf(pool: PoolPolicy, { route }: PoolDecision, standing: Extract<Standing, { kind: 'leave' }>): number {
  const mode = leaveMode(pool, standing);
  const couldGoOn = STILL_SERVES.includes(standing.cause) || standing.why.code === 'exclusive_elsewhere';
  const isServed =
    route.kind === 'open' &&
    route.fallback === undefined &&
    route.lagging === undefined &&
    !route.targets.every(({ isSuspect }) => isSuspect);
  return STRENGTH[couldGoOn && !isServed && mode !== 'close' ? 'keep' : mode];
}

function tablesOf(world: World): readonly RoutingTable[] {
  const start = emptyTable(world.policy, emptySnapshot('lab'), -1);
  return [start, ...momentsOf(world).map(({ snapshot, now }) => decideRoutes(world.policy, snapshot, now))];
}

test('`planActions(t, t)` is empty', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      expect(tablesOf(world).flatMap((table) => planActions(world.policy, table, table))).toEqual([]);
    }),
  );
});

test('a table decided again from the same snapshot within its validity asks for no action', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const asked = momentsOf(world).flatMap(({ snapshot, now }) => {
        const table = decideRoutes(world.policy, snapshot, now);
        const again = decideRoutes(world.policy, snapshot, Math.min(table.validUntil - 1, now + 60_000));
        return planActions(world.policy, table, again);
      });
      expect(asked).toEqual([]);
    }),
  );
});

/** A place is one address of a member in one pool. The test remembers the last action for each place. */
test('each member that left a pool gets exactly one action, and another only when its sessions need more', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const acted = new Map<string, LeaveMode>();
      const faults: string[] = [];
      const check = (holds: boolean, fault: string): unknown => holds || faults.push(fault);
      const tables = tablesOf(world);
      for (const [index, next] of tables.entries()) {
        const previous = tables[index - 1];
        if (previous === undefined) continue;
        const actions = planActions(world.policy, previous, next);
        const places = actions.map(({ pool, member, address }) => `${pool} ${member} ${address.host}:${address.port}`);
        check(new Set(places).size === places.length, `two actions for one place: ${places.join(', ')}`);
        for (const pool of world.policy.pools) {
          const { name } = pool;
          const before = previous.pools.get(name);
          const after = next.pools.get(name);
          if (before === undefined || after === undefined) throw new Error(`pool ${name} is missing`);
          for (const [member, address] of before.addresses) {
            const place = `${name} ${member} ${address.host}:${address.port}`;
            const wasIn = before.standings.get(member)?.kind !== 'leave';
            if (wasIn) acted.delete(place);
            const to = after.standings.get(member);
            const isHere = isSameAddress(address, after.addresses.get(member));
            const isOut = !isHere || to === undefined || to.kind === 'leave';
            const mine = actions.filter((action, at) => places[at] === place && action.pool === name);
            if (!isOut) check(mine.length === 0, `${place} is in the pool, and has an action`);
            if (isOut && wasIn) check(mine.length === 1, `${place} left, with ${mine.length} actions`);
            if (isHere && isOut && to?.kind === 'leave') {
              const wanted = wantedOf(pool, after, to);
              const done = Math.max(
                ...[...mine.map(({ mode }) => mode), acted.get(place) ?? 'keep'].map((mode) => STRENGTH[mode]),
              );
              if (wasIn || acted.has(place)) check(done >= wanted, `${place} needs ${wanted}, and got ${done}`);
            }
            const from = before.standings.get(member);
            for (const { mode } of mine) {
              if (from?.kind === 'leave') {
                check(STRENGTH[mode] > wantedOf(pool, before, from), `${place} got ${mode} once more`);
              }
              acted.set(place, mode);
            }
            // A member that has left got its last action. A member of that name at that address starts anew.
            if (!isHere || to === undefined) acted.delete(place);
          }
        }
      }
      expect(faults).toEqual([]);
    }),
  );
});

test('sessions drain from a lagging or promoted member only to a member of the pool itself', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const tables = tablesOf(world);
      for (const [index, next] of tables.entries()) {
        const previous = tables[index - 1];
        if (previous === undefined) continue;
        for (const { pool, cause, mode, afterMs } of planActions(world.policy, previous, next)) {
          if (!STILL_SERVES.includes(cause)) continue;
          if (mode !== 'drain' && mode !== 'drain_idle') continue;
          expect(next.pools.get(pool)?.route).toMatchObject({ kind: 'open', fallback: undefined });
          expect(afterMs).toBeGreaterThan(0);
        }
      }
    }),
  );
});
