// Why a member of a shared pool is where it is.
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
  refused,
  standingIn,
} from '../../support/values/builders.ts';

const ALONE = aPolicy({ pools: [aWritePool(), aPool()] });
const ROUND = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0)] as const;

function why(now: number, ...news: readonly Observation[]): unknown {
  return poolOf(aTable(ALONE, now, ...ROUND, ...news), 'read').standings.get('pg-2')?.why;
}

test.each([200, 503] as const)('a %i of a server that starts keeps its sessions', (status) => {
  const starts = answered({ member: 'pg-2', check: READ_CHECK, at: 1000, status, body: { state: 'starting' } });
  const twice = [starts, { ...starts, startedAt: 2000 }];
  expect(standingIn(aTable(ALONE, 2100, ...ROUND, ...twice), 'read', 'pg-2')).toBe('keep not_running');
});

test('one that is promoted keeps its sessions where the pool asks for primaries', () => {
  const primaries = aPolicy({ pools: [aPool({ check: '/primary' })] });
  const promoting = answered({ body: { role: 'replica', state: 'running' } });
  expect(standingIn(aTable(primaries, 100, aList(0, 'pg-1'), promoting), 'read', 'pg-1')).toBe('keep promoting');
});

test('a dead one is dead since its first refusal', () => {
  const dead = [1000, 2000].map((at) => refused({ member: 'pg-2', at }));
  expect(why(2100, ...dead)).toMatchObject({ code: 'refused', since: 1000 });
});

test('one on an old timeline names both', () => {
  expect(why(1100, isPrimary('pg-1', 1000, { timeline: 2 }))).toMatchObject({ detail: 'on 1, the primary is on 2' });
});

test('one that comes back says how often it has said yes', () => {
  const policy = aPolicy({ pools: [aWritePool(), aPool()], probe: { rise: 2 } });
  const table = aTable(policy, 100, ...ROUND);
  expect(poolOf(table, 'read').standings.get('pg-2')).toMatchObject({ kind: 'keep', why: { detail: '1 times' } });
});

function bare(member: string, check: string, status: 200 | 503): Observation {
  return answered({ member, check, at: 1000, status, body: undefined });
}

test('one that answers without a body is on no known timeline, and is open', () => {
  const policy = aPolicy({ pools: [aWritePool(), aPool({ check: '/liveness' })] });
  const both = [bare('pg-1', '/liveness', 200), bare('pg-2', '/primary', 503), bare('pg-2', '/liveness', 200)];
  const table = aTable(policy, 1100, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), ...both);
  expect(openIn(table, 'read')).toEqual(['pg-2']);
});
