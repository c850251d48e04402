// Waiting clients: together until nobody waits; the end of a wait that began before is of no group.
import { expect, test } from 'vitest';
import { WaitGroup, WaitingClients } from '../../../src/history/waiting-clients.ts';
import type { HoldEvent } from '../../../src/history/waiting-clients.ts';

const begins = (session: number, pool = 'write'): HoldEvent => ({
  kind: 'hold_started',
  pool,
  session,
  cause: 'no_member',
});
const ends = (session: number, waitedMs: number, pool = 'write'): HoldEvent => ({
  kind: 'hold_ended',
  pool,
  session,
  outcome: 'released',
  waitedMs,
});

test('a new group begins when nobody has waited; each pool has its own', () => {
  const waiting = new WaitingClients();
  for (const event of [begins(1), begins(2), begins(3, 'read'), ends(1, 900), ends(2, 100)]) waiting.take(event);
  const seen = (): readonly unknown[] =>
    ['write', 'read'].map((pool) => {
      const group = waiting.of(pool);
      return [group?.now(), group?.count(), group?.longestMs()];
    });
  expect(seen()).toEqual([
    [0, 2, 900],
    [1, 1, 0],
  ]);
  waiting.take(begins(4));
  expect(seen()[0]).toEqual([1, 1, 0]);
});

test('a wait that began before the group is not counted', () => {
  const group = new WaitGroup();
  for (const event of [begins(2), ends(1, 5000), ends(2, 10), ends(2, 10)]) group.take(event);
  expect([group.now(), group.count(), group.longestMs()]).toEqual([0, 1, 10]);
});
