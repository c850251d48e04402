// Which pools take writes, and their one member. Switchovers and moves ask for it.
import { expect, test } from 'vitest';
import { isOfLeader, isOfPrimary, openPrimary, primaryPools } from '../../../src/core/primary-pools.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { aList, answered, aPolicy, aPool, aTable, aWritePool, isPrimary } from '../../support/values/builders.ts';

const LEADER = aWritePool({ name: 'admin', check: '/leader' });
const POOLS = [aWritePool(), LEADER, aPool(), aWritePool({ name: 'sync', check: '/synchronous' })];

test.each([
  ['the primary, exclusive', aWritePool(), true, true],
  ['the leader, exclusive', LEADER, true, false],
  ['the primary, shared', aPool({ check: '/primary' }), false, false],
  ['the leader, shared', aPool({ check: '/leader' }), false, false],
  ['the synchronous standby, exclusive', aWritePool({ check: '/synchronous' }), false, false],
  ['a replica', aPool(), false, false],
])('a pool of %s has the leader as its member: %s, and a primary: %s', (_, pool, ofLeader, ofPrimary) => {
  expect([isOfLeader(pool), isOfPrimary(pool)]).toEqual([ofLeader, ofPrimary]);
});

test('only pools of the leader take writes', () => {
  expect(primaryPools({ pools: POOLS }).map(({ name }) => name)).toEqual(['write', 'admin']);
});

const leads = (member: string) => answered({ member, check: '/leader', at: 50 });

test('the primary is the member that serves each of them', () => {
  const policy = aPolicy({ pools: POOLS });
  const checks = POOLS.map(({ check }) => check.text);
  const first = ['pg-1', 'pg-2'].flatMap((member) => checks.map((check) => answered({ member, check, status: 503 })));
  const after = (...news: readonly Observation[]) =>
    openPrimary({ policy, table: aTable(policy, 100, aList(0, 'pg-1', 'pg-2'), ...first, ...news) });
  expect(after(isPrimary('pg-1', 50), leads('pg-1'))).toBe('pg-1');
  expect(after(isPrimary('pg-1', 50), leads('pg-2'))).toBeUndefined();
  expect(after(isPrimary('pg-1', 50))).toBeUndefined();
  expect(after(leads('pg-1'))).toBeUndefined();
});
