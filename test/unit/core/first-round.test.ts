import { expect, test } from 'vitest';
import { aList, answered, aPolicy, aPool, aTable, READ_CHECK, routeOf, silent } from '../../support/values/builders.ts';

const POLICY = aPolicy({ pools: [aPool(), aPool({ name: 'zone', check: '/replica?tag_zone=a' })] });
const LAGS = answered({ at: 100, check: READ_CHECK, status: 503, body: { role: 'replica', state: 'running' } });

test('G13: before the first complete round clients wait, even if every member failed the pool’s own check', () => {
  const table = aTable(POLICY, 200, aList(0, 'pg-1'), LAGS);
  expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'starting' });
});

test('after the first round they are refused', () => {
  const zone = answered({ at: 150, check: '/replica?tag_zone=a', body: { role: 'replica', state: 'running' } });
  expect(routeOf(aTable(POLICY, 200, aList(0, 'pg-1'), LAGS, zone), 'read')).toEqual({ kind: 'closed' });
});

test('a silent member that answers now counts as probed: the order of two answers does not matter', () => {
  const first = silent({ member: 'pg-1', at: 100 });
  const other = silent({ member: 'pg-2', at: 300 });
  const answer = answered({ member: 'pg-1', at: 300, check: READ_CHECK, status: 503 });
  const before = [aList(0, 'pg-1', 'pg-2'), first];
  const [one, two] = [[other, answer] as const, [answer, other] as const];
  expect(aTable(POLICY, 400, ...before, ...one).complete).toBe(true);
  expect(aTable(POLICY, 400, ...before, ...two).complete).toBe(true);
});
