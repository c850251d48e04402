// Changes between two tables. Each change is a log line and triggers a new read of the member list.
import { expect, test } from 'vitest';
import { changesBetween, evidenceChanges } from '../../../src/monitor/changes.ts';
import { aList, answered, aPolicy, aSnapshot, WRITE_CHECK } from '../../support/values/builders.ts';
import type { Observation } from '../../../src/model/observation.ts';
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

function report(at: number, state: string, storeSeenAt?: number): Observation {
  const body = { role: 'primary', state, ...(storeSeenAt === undefined ? {} : { storeSeenAt }) } as const;
  return answered({ check: WRITE_CHECK, at, member: 'pg-1', status: 503, body });
}

/** The time without contact with the store that the event for the last report tells. */
function unseen(...reports: readonly Observation[]): readonly unknown[] {
  const last = reports.at(-1) ?? aList(0);
  const before = aSnapshot(aPolicy(), aList(0, 'pg-1'), ...reports.slice(0, -1));
  const after = aSnapshot(aPolicy(), aList(0, 'pg-1'), ...reports);
  return evidenceChanges(before, after, last).map((event) => 'storeUnseenMs' in event && event.storeUnseenMs);
}

test('a new report tells for how long its time of the last contact with the store has been the same', () => {
  expect(unseen(report(100, 'running', 7), report(900, 'running', 7), report(1_700, 'stopping', 7))).toEqual([1_600]);
  expect(unseen(report(100, 'running', 7), report(900, 'running', 8), report(1_700, 'stopping', 8))).toEqual([800]);
  expect(unseen(report(100, 'running', 7), report(900, 'stopping', 8))).toEqual([0]);
  expect(unseen(report(100, 'running', 7), report(900, 'stopping'))).toEqual([undefined]);
});
