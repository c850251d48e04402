import { describe, expect, test } from 'vitest';
import { firstOf, isWanted, mergedLists } from '../../../src/reports/session-list.ts';
import type { SessionFilter } from '../../../src/reports/session-list.ts';
import { aSessionEntry } from '../../support/values/sessions.ts';

describe('a filter', () => {
  test.each<[SessionFilter, boolean]>([
    [{}, true],
    [{ id: 1 }, true],
    [{ id: 2 }, false],
    [{ pool: 'write' }, true],
    [{ pool: 'read' }, false],
    [{ member: 'pg-1' }, true],
    [{ member: 'pg-2' }, false],
    [{ state: 'relaying' }, true],
    [{ state: 'holding' }, false],
    [{ client: '10.0.0.5' }, true],
    [{ client: '10.0.0.5:51234' }, true],
    [{ client: '10.0.0.5:5123' }, false],
    [{ client: '10.0.0' }, false],
    [{ client: '0.0.0.5' }, false],
    [{ pool: 'write', client: '10.0.0.6' }, false],
  ])('%j: %s', (filter, expected) => {
    expect(isWanted(aSessionEntry(), filter)).toBe(expected);
  });

  test.each(['parked', 'moving'] as const)('a session that is %s is found by the member that it has left', (state) => {
    const left = { moved: 0, underway: { from: 'pg-2', cause: 'switchover', leftAt: 0, isWaiting: false } } as const;
    const session = aSessionEntry({ state, member: state === 'parked' ? undefined : 'pg-1', moves: left });
    const isFound = (member: string): boolean => isWanted(session, { member });
    expect(['pg-1', 'pg-2', 'pg-3'].map(isFound)).toEqual([state === 'moving', true, false]);
  });

  test.each([
    ['[::ffff:10.0.0.5]:51234', '10.0.0.5', true],
    ['[::ffff:10.0.0.5]:51234', '10.0.0.5:51234', true],
    ['[2001:db8::1]:51234', '2001:DB8::1', true],
    ['[2001:db8::1]:51234', '[2001:db8::1]:51234', true],
    ['[2001:db8::1]:51234', '2001:db8::', false],
    ['unknown', 'unknown', true],
  ])('the client %s, asked for as %s: %s', (client, wanted, expected) => {
    expect(isWanted(aSessionEntry({ client }), { client: wanted })).toBe(expected);
  });
});

test.each([
  ['age', [1, 2, 3, 4]],
  ['since', [2, 1, 3, 4]],
  ['held', [4, 1, 2, 3]],
  ['in', [3, 1, 2, 4]],
  ['out', [2, 1, 3, 4]],
  ['bytes', [3, 2, 1, 4]],
] as const)('by %s: the largest first, then the oldest', (sort, ids) => {
  const underway = { from: 'pg-2', cause: 'switchover', leftAt: 1, isWaiting: false } as const;
  const sessions = [
    aSessionEntry({ id: 4, acceptedAt: 40, stateSince: 40, heldMs: 5 }),
    aSessionEntry({ id: 3, acceptedAt: 30, stateSince: 30, heldMs: undefined, toBackendBytes: 9 }),
    aSessionEntry({ id: 2, acceptedAt: 20, stateSince: 50, moves: { moved: 0, underway }, toClientBytes: 7 }),
    aSessionEntry({ id: 1, acceptedAt: 10, stateSince: 20 }),
  ];
  expect(firstOf(sessions, { sort, limit: 9 }).map(({ id }) => id)).toEqual(ids);
});

test('merged: the oldest of all, the sum of all, and each silent worker', () => {
  const one = {
    sessions: [aSessionEntry({ id: 1, acceptedAt: 10 }), aSessionEntry({ id: 2, acceptedAt: 30 })],
    total: 9,
  };
  const two = { sessions: [aSessionEntry({ id: 3, acceptedAt: 20 })], total: 1 };
  const silent = { sessions: [], total: 0, silentWorkers: [3] };
  const merged = mergedLists([{ ...one, silentWorkers: [] }, { ...two, silentWorkers: [] }, silent], { limit: 2 });
  expect(merged).toMatchObject({ sessions: [{ id: 1 }, { id: 3 }], total: 10, silentWorkers: [3] });
});
