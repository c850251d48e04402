// Changes between two tables. Each change is a log line and triggers a new read of the member list.
import { expect, test } from 'vitest';
import { changesBetween } from '../../../src/monitor/changes.ts';
import { aTableOf } from '../../support/values/tables.ts';
import type { PoolPicture } from '../../support/values/tables.ts';

const A = { host: 'a', port: 5432 };
const B = { host: 'b', port: 5432 };

function news(before: PoolPicture, after: PoolPicture): readonly string[] {
  return changesBetween(aTableOf({ read: before }), aTableOf({ read: after })).map(({ kind }) => kind);
}

test('the same route is no change, nor is another weight or zone', () => {
  expect(news({ open: { A } }, { open: { A } })).toEqual([]);
  expect(news({ open: { A } }, { open: { A }, sharing: { A: { weight: 3, isFar: true } } })).toEqual([]);
});

test.each<[string, PoolPicture]>([
  ['another address', { open: { A: B } }],
  ['a fallback in use', { open: { A }, fallback: { pool: 'write', maxSessions: 1 } }],
  ['members used although all lag', { open: { A }, lagging: { maxSessions: 1 } }],
  ['no member', { otherwise: 'closed' }],
])('%s is a change', (_, after) => {
  expect(news({ open: { A } }, after)).toEqual(['route_changed']);
});

test('a member more or fewer is a change', () => {
  expect(news({ open: { A } }, { open: { A, B } })).toContain('route_changed');
  expect(news({ open: { A, B } }, { open: { A } })).toContain('route_changed');
});
