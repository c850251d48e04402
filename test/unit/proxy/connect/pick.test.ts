// The member of the next session: by turns, by load and by weight, and a member that refuses logins comes last.
import { beforeEach, expect, test } from 'vitest';
import { Picker } from '../../../../src/proxy/connect/picker.ts';
import { SessionRegistry } from '../../../../src/proxy/session-registry.ts';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import { aPool } from '../../../support/values/builders.ts';
import { aTableOf } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const A = { member: 'a', address: { host: 'a', port: 5432 } };
const B = { member: 'b', address: { host: 'b', port: 5432 } };
const TOO_MANY = '53300';

let clock: ManualClock;
let picker: Picker;
let live: Record<string, number>;

beforeEach(() => {
  clock = new ManualClock();
  live = {};
  const registry = new SessionRegistry();
  registry.sessionsOn = (_pool, member) => live[member] ?? 0;
  const drains = { hurry() {}, isClearing: () => false };
  picker = new Picker({ registry, drains, onEvent() {}, clock, random: () => 0 });
});

function picks(pool: PoolPolicy, count: number, targets: Parameters<Picker['pick']>[1] = [A, B]): string {
  return Array.from({ length: count }, () => picker.pick(pool, targets, '10.0.0.9').member).join('');
}

test('by turns, and each pool has its own', () => {
  const [one, other] = [aPool({ balance: 'round_robin' }), aPool({ name: 'other', balance: 'round_robin' })];
  expect([picks(one, 3), picks(other, 2), picks(one, 2)]).toEqual(['aba', 'ab', 'ba']);
});

test('by turns, in proportion to the weights', () => {
  const pool = aPool({ balance: 'round_robin' });
  expect(picks(pool, 8, [{ ...A, weight: 3 }, B]).replaceAll('b', '')).toHaveLength(6);
});

test('the member with the fewest sessions for its weight', () => {
  const pool = aPool({ balance: 'least_sessions' });
  live = { a: 2, b: 1 };
  expect(picks(pool, 1)).toBe('b');
  expect(picks(pool, 1, [{ ...A, weight: 4 }, B])).toBe('a');
});

test('a refused login is load for a while: a server that refuses has few sessions', async () => {
  const pool = aPool({ balance: 'least_sessions' });
  live = { a: 1, b: 3 };
  for (let id = 1; id <= 4; id += 1) picker.refusals.note({ id, pool: pool.name }, 'a', '28P01');
  expect(picks(pool, 1)).toBe('b');
  await clock.advance(60_000);
  expect(picks(pool, 1)).toBe('a');
});

test('a member that is full comes last for a moment, and is picked where all are full', async () => {
  const pool = aPool({ balance: 'round_robin' });
  picker.refusals.note({ id: 1, pool: pool.name }, 'a', TOO_MANY);
  expect([picks(pool, 3), picks(pool, 1, [A])]).toEqual(['bbb', 'a']);
  await clock.advance(2_000);
  expect(picks(pool, 4).replaceAll('b', '')).not.toBe('');
});

test('a member that opens later gets a small part at first, and the list tells so', async () => {
  const pool = aPool({ balance: 'least_sessions', slowStartMs: 10_000 });
  picker.tableChanged(aTableOf({ read: { open: { a: A.address } } }));
  picker.tableChanged(aTableOf({ read: { open: { a: A.address, b: B.address } } }));
  const openedAt = clock.now();
  await clock.advance(2_500);
  expect([picker.weightOf(pool, A), picker.weightOf(pool, { ...B, weight: 2 })]).toEqual([1, 0.5]);
  expect([...picker.ramping(pool)]).toEqual([['b', 0.25]]);
  expect([picker.openedAt('read', 'a'), picker.openedAt('read', 'b')]).toEqual([-Infinity, openedAt]);
  live = { a: 2, b: 1 };
  expect(picks(pool, 1)).toBe('a');
  await clock.advance(7_500);
  expect(picks(pool, 1)).toBe('b');
});

test('a slow member has less weight', () => {
  const pool = aPool({ balance: 'latency' });
  picker.tableChanged(aTableOf({ read: { open: { a: A.address, b: B.address } } }));
  for (let login = 0; login < 20; login += 1) {
    picker.latency.login(pool, 'a', 1);
    picker.latency.login(pool, 'b', 100);
  }
  expect(picker.weightOf(pool, A)).toBe(1);
  expect(picker.weightOf(pool, B)).toBeLessThan(0.5);
});

test('while another pool is not decided yet a slow start goes on', async () => {
  const pool = aPool({ slowStartMs: 10_000 });
  picker.tableChanged(aTableOf({ read: { open: { a: A.address } } }));
  const both = { open: { a: A.address, b: B.address } };
  picker.tableChanged(aTableOf({ read: both }));
  await clock.advance(2_500);
  picker.tableChanged(aTableOf({ read: both, write: { otherwise: 'starting' } }));
  expect([...picker.ramping(pool)]).toEqual([['b', 0.25]]);
});

test('a pool that holds has no member that takes sessions, and one that is unknown has never had one', () => {
  const pool = aPool({ slowStartMs: 10_000 });
  expect([picker.ramping(pool), picker.openedAt('read', 'a')]).toEqual([new Map(), -Infinity]);
  picker.tableChanged(aTableOf({ read: { open: { a: A.address } } }));
  picker.tableChanged(aTableOf({ read: { otherwise: 'hold' } }));
  expect([picker.ramping(pool), picker.openedAt('read', 'a')]).toEqual([new Map(), -Infinity]);
  picker.tableChanged(aTableOf({ read: { open: { a: A.address } } }));
  expect(picker.ramping(pool)).toEqual(new Map([['a', 0.01]]));
});
