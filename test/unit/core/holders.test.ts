// The member that serves an exclusive pool, or may still serve it, is in no other pool, even if it passes the check.
import { expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import {
  aList,
  aMember,
  answered,
  aPolicy,
  aPool,
  aTable,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  refused,
  routeOf,
  silent,
  standingIn,
} from '../../support/values/builders.ts';

const HEALTH = '/health';
const POLICY = aPolicy({ pools: [aWritePool(), aPool({ name: 'any', check: HEALTH })] });
const LIST = aList(0, 'pg-1', 'pg-2');

/** Every member passes the check of the pool `any`. */
function round(at: number): readonly Observation[] {
  const healthy = ['pg-1', 'pg-2'].map((member) => answered({ member, at, check: HEALTH, body: { state: 'running' } }));
  return [isPrimary('pg-1', at), isReplica('pg-2', at), ...healthy];
}

const healthyAt = (at: number): Observation => answered({ at, check: HEALTH, body: { state: 'running' } });
const landed: Observation = { kind: 'landing', member: 'pg-1', by: 'standby', startedAt: 200 };

test.each<[string, number, readonly Observation[], readonly string[]]>([
  ['the primary serves writes', 100, [], ['pg-2']],
  ['it is silent: it may still serve them', 6000, [silent({ at: 1000 })], ['pg-2']],
  ['its server reports to be in recovery', 300, [landed], ['pg-2']],
  ['two members claim to be the primary', 300, [isPrimary('pg-2', 200)], []],
  ['it has become a replica', 300, [isReplica('pg-1', 200)], ['pg-1', 'pg-2']],
  ['it is promoted, and serves nothing yet', 300, [answered({ at: 200, body: { role: 'replica' } })], ['pg-1', 'pg-2']],
  ['it was dead, and lives', 3500, [refused({ at: 1000 }), healthyAt(2000), silent({ at: 3000 })], ['pg-1', 'pg-2']],
])('%s', (_, now, news, open) => {
  expect(openIn(aTable(POLICY, now, LIST, ...round(0), ...news), 'any')).toEqual(open);
});

/** `pg-1` is silent when `pg-2` is proven; both pass the check of the pool `any`. */
function overtaken(by: { readonly timeline?: number }, now = 6200): ReturnType<typeof aTable> {
  const healthy = answered({ member: 'pg-1', at: 6050, check: HEALTH, body: { state: 'running' } });
  return aTable(POLICY, now, LIST, ...round(0), silent({ at: 6000 }), isPrimary('pg-2', 6100, by), healthy);
}

test('one that has lost its sessions to another member may still serve: only a later timeline proves its end', () => {
  expect(standingIn(overtaken({ timeline: 1 }), 'write', 'pg-1')).toBe('leave demoted superseded');
  expect(openIn(overtaken({ timeline: 1 }), 'any')).toEqual([]);
  expect(openIn(overtaken({ timeline: 2 }), 'any')).toEqual(['pg-1']);
});

test('after its grace a silent member serves nothing, and is a member of other pools like any other', () => {
  const tables = [14_999, 15_000].map((now) => aTable(POLICY, now, LIST, ...round(0), silent({ at: 1000 })));
  expect(tables.map((table) => standingIn(table, 'any', 'pg-1'))).toEqual([
    'leave promoted exclusive_elsewhere',
    'leave silent no_answer',
  ]);
});

test('a silent member that was never asked for the primary serves other pools', () => {
  const health = answered({ check: HEALTH, body: { state: 'running' } });
  const table = aTable(POLICY, 200, aList(0, 'pg-1'), health, silent({ check: HEALTH, at: 100 }));
  expect(standingIn(table, 'write', 'pg-1')).toBe('keep no_answer');
  expect(openIn(table, 'any')).toEqual(['pg-1']);
});

test.each<[string, Parameters<typeof aMember>[1], readonly Observation[]]>([
  ['has no known address of PostgreSQL', { postgres: undefined }, []],
  ['is in recovery', {}, [landed]],
])('clients of reads wait, and are not refused, while the primary %s: the roles are not settled', (_, member, news) => {
  const policy = aPolicy({ pools: [aWritePool(), aPool()] });
  const seen = [aList(0, aMember('pg-1', member)), isPrimary('pg-1', 0)];
  const table = aTable(policy, 300, ...seen, isPrimary('pg-1', 100), ...news);
  expect(standingIn(table, 'read', 'pg-1')).toMatch(/^leave/);
  expect(routeOf(table, 'read')).toEqual({ kind: 'hold', cause: 'no_member' });
});
