// A primary whose API answers no because its PostgreSQL stops: the cause of the end of its sessions, and its time.
import { expect, test } from 'vitest';
import {
  aList,
  answered,
  aPolicy,
  aTable,
  isPrimary,
  isReplica,
  openIn,
  routeOf,
  standingIn,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'pg-2');
const ROUND = [LIST, isPrimary('pg-1', 0), isReplica('pg-2', 0)] as const;

test('a 503 of a stopping server leaves the sessions to PostgreSQL, until silence_grace after the last yes', () => {
  const stops = answered({ at: 2000, status: 503, body: { role: 'primary', state: 'stopping' } });
  const stopped = answered({ at: 9000, status: 503, body: { role: 'primary', state: 'stopped' } });
  const history = [...ROUND, isPrimary('pg-1', 1000), stops];
  const table = aTable(POLICY, 2100, ...history);
  expect(openIn(table, 'write')).toEqual([]);
  expect(routeOf(table, 'write')).toEqual({ kind: 'hold', cause: 'no_member' });
  expect(standingIn(table, 'write', 'pg-1')).toBe('keep not_running');
  expect(standingIn(aTable(POLICY, 15_999, ...history, stopped), 'write', 'pg-1')).toBe('keep not_running');
  expect(standingIn(aTable(POLICY, 16_000, ...history, stopped), 'write', 'pg-1')).toBe('leave demoted not_running');
});

test('another proven primary ends them at once, also when the 503 comes later', () => {
  const stops = answered({ at: 2000, status: 503, body: { role: 'primary', state: 'stopping' } });
  const promoted = isPrimary('pg-2', 2500, { timeline: 2 });
  for (const history of [
    [stops, promoted],
    [promoted, { ...stops, startedAt: 2600 }],
  ]) {
    expect(standingIn(aTable(POLICY, 2700, ...ROUND, ...history), 'write', 'pg-1')).toMatch(/^leave demoted/);
  }
});

test('a 503 of a stopping server that was never the primary keeps no sessions', () => {
  const stops = answered({ member: 'pg-2', at: 2000, status: 503, body: { state: 'stopping' } });
  expect(standingIn(aTable(POLICY, 2100, LIST, stops), 'write', 'pg-2')).toBe('leave demoted not_running');
});
