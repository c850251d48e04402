// A session whose server does not show enough goes to a member of its pool that does, or to the primary by fallback.
import { expect, test } from 'vitest';
import type { AskedServer } from '../../../../src/model/causal-reads.ts';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import { Detours } from '../../../../src/proxy/reads/detours.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { aTableOf, type PoolPicture } from '../../../support/values/tables.ts';

const at = (member: string): AskedServer => ({ member, address: { host: member, port: 5432 } });
const PRIMARY: PoolPicture = { open: { 'pg-1': at('pg-1').address } };
const FALLBACK = { pool: 'write', maxSessions: 1 };

interface Given {
  readonly read?: PoolPicture;
  readonly write?: PoolPicture;
  readonly fallback?: PoolPolicy['fallback'];
}

function aDetour({ read = { open: { 'pg-2': at('pg-2').address } }, write = PRIMARY, fallback }: Given = {}) {
  const pools = [aWritePool(), aPool({ fallback })];
  const registry = new SessionRegistry();
  registry.learn(['read', 'write']);
  const detours = new Detours({
    table: () => aTableOf({ read, write }),
    registry,
    pool: (name) => pools.find((pool) => pool.name === name),
  });
  const find = (...shows: readonly string[]) =>
    detours.goal('read', at('pg-2'), ({ member }) => shows.includes(member));
  const goal = (...shows: readonly string[]) => {
    const found = find(...shows);
    return typeof found === 'string' ? undefined : found.next();
  };
  return { detours, find, goal };
}

test('a member of its own pool that shows enough, and never the server that it leaves', () => {
  const { goal } = aDetour({ read: { open: { 'pg-2': at('pg-2').address, 'pg-3': at('pg-3').address } } });
  expect(goal('pg-2')).toBeUndefined();
  expect(goal('pg-3')).toBeDefined();
  const route = goal('pg-2', 'pg-3');
  expect(route?.via).toBeUndefined();
  expect([route?.suits(at('pg-2')), route?.suits(at('pg-3')), route?.suits(at('pg-4'))]).toEqual([false, true, false]);
});

test('the primary by fallback, while there is a place', () => {
  expect(aDetour({ fallback: FALLBACK }).goal('pg-1')?.via?.name).toBe('write');
});

test('a sentence says why there is none', () => {
  const limit = 'As many sessions of the pool use its fallback as may: max_sessions is 0.';
  expect(aDetour({ fallback: { ...FALLBACK, maxSessions: 0 } }).find('pg-1')).toBe(limit);
  expect(aDetour({}).find('pg-1')).toBe('No other member of the pool shows them.');
  expect(aDetour({ fallback: FALLBACK, write: {} }).find('pg-1')).toBe('The pool of the primary takes no sessions.');
});

test('a goal is tried once', () => {
  const goal = aDetour({ fallback: FALLBACK }).find('pg-1');
  expect(goal).toBeTypeOf('object');
  if (typeof goal === 'string') return;
  expect(goal.next()).toBeDefined();
  expect(goal.next()).toBeUndefined();
});

test('whether its pool and its fallback take sessions', () => {
  const { detours } = aDetour({ fallback: FALLBACK });
  expect([detours.hasOwnMembers('read'), detours.hasPrimary('read')]).toEqual([true, true]);
  const away = aDetour({ fallback: FALLBACK, read: {}, write: {} }).detours;
  expect([away.hasOwnMembers('read'), away.hasPrimary('read')]).toEqual([false, false]);
  expect(aDetour({ write: {} }).detours.hasPrimary('read')).toBe(true);
  const lagging = aDetour({ read: { open: { 'pg-2': at('pg-2').address }, lagging: { maxSessions: 9 } } }).detours;
  expect(lagging.hasOwnMembers('read')).toBe(false);
});
