import { expect, test } from 'vitest';
import { aList, answered, aPolicy, aPool, aTable, READ_CHECK, routeOf } from '../../support/values/builders.ts';

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
