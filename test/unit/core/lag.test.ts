import { describe, expect, test } from 'vitest';
import { primaryPositions, recentLags } from '../../../src/core/lag.ts';
import { newRecord } from '../../../src/core/snapshot.ts';
import type { Position } from '../../../src/core/snapshot.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { aList, aMember, answered, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';

function location(at: number, bytes: number): Position {
  return { at, kind: 'location', bytes };
}

function replicaAt(...positions: readonly (readonly [at: number, bytes: number])[]) {
  return {
    ...newRecord(aMember('pg-2')),
    positions: positions.map(([at, bytes]): Position => ({ at, kind: 'replayed', bytes })),
  };
}

describe('lag at the instant of each position of the replica, newest first', () => {
  test.each<[string, readonly Position[], ReturnType<typeof replicaAt>, readonly (number | undefined)[]]>([
    ['the primary’s position of the same moment counts', [location(100, 900)], replicaAt([100, 400]), [500]],
    ['or the newest before it', [location(200, 999), location(90, 900), location(10, 1)], replicaAt([100, 400]), [500]],
    ['a later one does not', [location(101, 900)], replicaAt([100, 400]), [undefined]],
    ['a replica ahead of what we saw of the primary has none', [location(100, 900)], replicaAt([110, 950]), [0]],
    [
      'each position for itself',
      [location(200, 900), location(100, 500)],
      replicaAt([210, 800], [110, 100]),
      [100, 400],
    ],
    ['no more than the requested number', [location(0, 9)], replicaAt([4, 1], [3, 1], [2, 1]), [8, 8]],
    ['no primary, no lag', [], replicaAt([100, 400]), [undefined]],
    ['no replica, no lag', [location(100, 900)], replicaAt(), []],
  ])('%s', (_, primary, replica, lags) => {
    expect(recentLags(primary, replica, 2)).toEqual(lags);
  });
});

test('what a member reported of itself as primary is no position of the replica that it is now', () => {
  const former = { ...newRecord(aMember('pg-2')), positions: [location(110, 9), ...replicaAt([100, 400]).positions] };
  expect(recentLags([location(90, 900)], former, 1)).toEqual([500]);
});

describe('the positions of the primary', () => {
  const policy = aPolicy();
  const list = aList(0, 'pg-1', 'pg-2');

  test('come from the member on the highest timeline', () => {
    const old = isPrimary('pg-1', 200, { timeline: 1, location: 111 });
    const snapshot = aSnapshot(policy, list, isPrimary('pg-2', 100, { timeline: 2, location: 222 }), old);
    expect(primaryPositions(snapshot).map(({ bytes }) => bytes)).toEqual([222]);
  });

  test('stay known when its next answer has none: fewer facts are not trusted more', () => {
    const history = [isPrimary('pg-1', 100, { location: 999 }), answered({ member: 'pg-1', at: 200, body: {} })];
    expect(primaryPositions(aSnapshot(policy, list, ...history)).map(({ bytes }) => bytes)).toEqual([999]);
  });

  test.each([
    ['pg-1', 'pg-2'],
    ['pg-2', 'pg-1'],
  ])('come from the one that reported last, where two claim one timeline: %s before %s', (first, last) => {
    const snapshot = aSnapshot(
      policy,
      list,
      isPrimary(first, 100, { location: 111 }),
      isPrimary(last, 200, { location: 222 }),
    );
    expect(primaryPositions(snapshot).map(({ bytes }) => bytes)).toEqual([222]);
  });

  test('are unknown while no primary has told its timeline', () => {
    const body: MemberStatus = { role: 'primary', state: 'running', location: 999 };
    const silent = answered({ member: 'pg-1', at: 100, body });
    expect(primaryPositions(aSnapshot(policy, list, silent))).toEqual([]);
  });

  test('are unknown while no member was primary', () => {
    expect(primaryPositions(aSnapshot(policy, list, isReplica('pg-1', 100)))).toEqual([]);
  });

  test('of a former primary that is a replica now give way to those of the new primary', () => {
    const history = [
      isPrimary('pg-1', 100, { location: 999 }),
      isPrimary('pg-2', 200, { timeline: 2, location: 500 }),
      isReplica('pg-1', 300, { timeline: 2, replayed: 400 }),
    ];
    expect(primaryPositions(aSnapshot(policy, list, ...history)).map(({ bytes }) => bytes)).toEqual([500]);
  });

  test('never come from a replica, even if it reports a location', () => {
    const history = [
      isPrimary('pg-1', 100, { location: 999 }),
      isReplica('pg-2', 200, { location: 111, replayed: 888 }),
      isReplica('pg-2', 300, { location: 111, replayed: 'invalid' }),
    ];
    const snapshot = aSnapshot(policy, list, ...history);
    expect(primaryPositions(snapshot).map(({ bytes }) => bytes)).toEqual([999]);
    expect(snapshot.members.get('pg-2')?.positions.map(({ kind, bytes }) => [kind, bytes])).toEqual([
      ['replayed', 888],
    ]);
  });
});
