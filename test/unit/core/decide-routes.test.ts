// How the decisions of single pools become one table.
import { expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  answered,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  poolOf,
  READ_CHECK,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const POLICY = aPolicy();
const ROUND = [
  aList(0, 'pg-1', 'pg-2', 'pg-3'),
  isPrimary('pg-1', 0),
  isReplica('pg-2', 0),
  isReplica('pg-3', 0),
] as const;

test('a member that serves another pool says which one', () => {
  const alone = aPolicy({ pools: [aWritePool(), aPool()] });
  const why = poolOf(aTable(alone, 100, ...ROUND), 'read').standings.get('pg-1')?.why;
  expect(why).toMatchObject({ code: 'exclusive_elsewhere', detail: 'pool write' });
});

test('a missed probe marks the readers as suspect, and never the primary', () => {
  const missed = ['pg-1', 'pg-2'].map((member) => silent({ member, at: 1000 }));
  const table = aTable(POLICY, 1100, ...ROUND, ...missed);
  const suspects = (pool: string) => {
    const route = routeOf(table, pool);
    return route.kind === 'open' ? route.targets.map(({ member, isSuspect }) => [member, isSuspect]) : [];
  };
  expect(suspects('write')).toEqual([['pg-1', undefined]]);
  expect(suspects('read')).toEqual([
    ['pg-2', true],
    ['pg-3', undefined],
  ]);
});

const lags = (at: number) =>
  answered({ member: 'pg-2', check: READ_CHECK, at, status: 503, body: { role: 'replica', state: 'running' } });

const promoting = (at: number): Observation =>
  answered({ member: 'pg-2', at, body: { role: 'replica', state: 'running', timeline: 1 } });

test('a reader that keeps its sessions keeps its own reason, whatever the fallback pool makes of it', () => {
  const lost = [answered({ at: 11_500, status: 503 }), promoting(11_900)];
  const during = aTable(POLICY, 12_000, ...ROUND, ...lost);
  expect(standingIn(during, 'write', 'pg-2')).toBe('keep promoting');
  expect(standingIn(during, 'read', 'pg-2')).toBe('keep no_answer');
});

test('a reader that left for its lag says so, also while the fallback pool keeps it', () => {
  const history = [...ROUND, lags(1000), answered({ at: 1500, status: 503 }), promoting(1900), lags(2000)];
  const table = aTable(POLICY, 2100, ...history);
  expect(standingIn(table, 'write', 'pg-2')).toBe('keep promoting');
  expect(openIn(table, 'read')).toEqual(['pg-3']);
  expect(standingIn(table, 'read', 'pg-2')).toBe('leave lagging lagging');
});

test('clients of reads wait for a silent replica, although the pool of their fallback refuses its own clients', () => {
  const body = { role: 'standby_leader', state: 'running' } as const;
  const leads = ['/primary', READ_CHECK].map((check) => answered({ check, at: 11_900, status: 503, body }));
  const table = aTable(POLICY, 12_000, aList(0, 'pg-1', 'pg-2'), isReplica('pg-2', 0), ...leads);
  expect(routeOf(table, 'write')).toEqual({ kind: 'closed' });
  expect(standingIn(table, 'read', 'pg-2')).toBe('keep no_answer');
  expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'no_member' });
});
