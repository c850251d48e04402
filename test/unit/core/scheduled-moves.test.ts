// A switchover that the cluster has scheduled: with moves, the primary's sessions leave when it is due.
import { expect, test } from 'vitest';
import { isOver, planActions } from '../../../src/core/actions.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { OVERDUE_MS } from '../../../src/core/operator-override.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { answered, aList, aPolicy, aPool, aSnapshot, aWritePool, isPrimary } from '../../support/values/builders.ts';
import { configOf, load } from '../../support/values/loading.ts';

const AT = 10_000;
const WITHOUT_MOVES = aPolicy({ pools: [aWritePool(), aPool()], beforeSwitchoverMs: 2_000 });
const POLICY: RoutingPolicy = { ...WITHOUT_MOVES, moves: configOf(load('moves: { roles: [app] }')).moves };
const LIST = { ...aList(0, 'pg-1', 'pg-2'), switchover: { leader: 'pg-1', at: AT } };

function at(now: number, policy = POLICY): RoutingTable {
  return decideRoutes(policy, aSnapshot(policy, LIST, isPrimary('pg-1', now)), now);
}

test('its sessions leave when it is due, and the ones that cannot move stay', () => {
  const [action, ...others] = planActions(POLICY, at(7_000), at(9_000));
  expect(others).toEqual([]);
  const wanted = { pool: 'write', member: 'pg-1', cause: 'switchover', mode: 'drain_idle', afterMs: 0 };
  expect(action).toMatchObject({ ...wanted, keepsPinned: true });
  expect(action).not.toHaveProperty('limitMs');
  expect(planActions(POLICY, at(9_000), at(9_500))).toEqual([]);
});

test('a reload that takes the pool away at that moment ends them as any other', () => {
  const actions = planActions(POLICY, at(7_000), { ...at(9_000), pools: new Map() });
  expect(actions.map(({ pool, cause }) => `${pool} ${cause}`)).toContain('write removed');
});

test('without moves nothing happens to them', () => {
  expect(planActions(WITHOUT_MOVES, at(7_000, WITHOUT_MOVES), at(9_000, WITHOUT_MOVES))).toEqual([]);
});

test('it is over when the switchover has not come, and when the primary has stepped down', () => {
  const [action] = planActions(POLICY, at(7_000), at(9_000));
  if (action === undefined) throw new Error('no action');
  expect(isOver(action, at(9_500))).toBe(false);
  expect(isOver(action, at(AT + OVERDUE_MS + 1))).toBe(true);
  const steppedDown = aSnapshot(POLICY, LIST, isPrimary('pg-1', 9_000), answered({ at: 9_600, status: 503 }));
  expect(isOver(action, decideRoutes(POLICY, steppedDown, 9_600))).toBe(true);
});
