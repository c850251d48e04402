// Replicas whose replay stands still: the limits of the comparison with the others.
import { expect, test } from 'vitest';
import type { MemberStatus } from '../../../src/model/member-status.ts';
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
} from '../../support/values/builders.ts';

const POLICY = aPolicy({ pools: [aWritePool(), aPool()] });
const LIST = aList(0, 'pg-1', 'pg-2', 'pg-3');

/** Every second from 1 to 14: the primary has written 900, pg-2 stands at 500 and pg-3 at what `third` says. */
function history(third: (second: number) => number): readonly Observation[] {
  return Array.from({ length: 14 }, (_, index) => index + 1).flatMap((second) => [
    isPrimary('pg-1', second * 1000, { location: 900 }),
    isReplica('pg-2', second * 1000, { replayed: 500 }),
    isReplica('pg-3', second * 1000, { replayed: third(second) }),
  ]);
}

const open = (...observations: readonly Observation[]): readonly string[] =>
  openIn(aTable(POLICY, 14_500, LIST, ...observations), 'read');

test('one that stands still lags behind one that has replayed more', () => {
  const table = aTable(POLICY, 14_500, LIST, ...history((second) => 600 + second));
  expect(openIn(table, 'read')).toEqual(['pg-3']);
  expect(poolOf(table, 'read').standings.get('pg-2')?.why.detail).toBe('it replays nothing, and others do');
});

test('one that stands still where the others are now does not', () => {
  expect(open(...history((second) => 486 + second))).toEqual(['pg-2', 'pg-3']);
});

test('those that all stand still are compared with nobody', () => {
  expect(open(...history(() => 700))).toEqual(['pg-2', 'pg-3']);
});

/** pg-2 answers with this body in between, when it has stood still for eight seconds. */
function openAfter(body: MemberStatus | undefined): readonly string[] {
  const between = answered({ member: 'pg-2', check: READ_CHECK, at: 9500, body });
  const all = [...history((second) => 600 + second), between];
  return open(...all.toSorted((a, b) => a.startedAt - b.startedAt));
}

test('only members that are open are compared, and each other one keeps its reason', () => {
  const following = history((second) => 600 + second);
  const out = { noloadbalance: true };
  expect(open(...following, isReplica('pg-3', 14_100, { replayed: 620, ...out }))).toEqual(['pg-2']);
  const table = aTable(POLICY, 14_500, LIST, ...following, isReplica('pg-2', 14_100, { replayed: 500, ...out }));
  expect(poolOf(table, 'read').standings.get('pg-2')?.why.code).toBe('tagged_out');
});

test('a primary that is open in the pool is no replica that has replayed more', () => {
  const check = '/readiness?lag=16MB';
  // Each member answers both checks, so that the timeline of the primary is known.
  const asked = history(() => 500).map((one) => (one.kind === 'probe' ? { ...one, check } : one));
  const all = [...history(() => 500), ...asked].toSorted((a, b) => a.startedAt - b.startedAt);
  const policy = aPolicy({ pools: [aWritePool({ exclusive: false }), aPool({ check })] });
  const table = aTable(policy, 14_500, LIST, ...all);
  expect(openIn(table, 'read')).toEqual(['pg-1', 'pg-2', 'pg-3']);
});

test('an answer without a body does not begin its count anew, and one without a position does', () => {
  expect(openAfter(undefined)).toEqual(['pg-3']);
  expect(openAfter({ role: 'replica' })).toEqual(['pg-2', 'pg-3']);
});

test('the primary has to have more than the replica: without that nothing is left to replay', () => {
  const idle = history((second) => 600 + second).map((one) =>
    one.kind === 'probe' && one.member === 'pg-1' ? isPrimary('pg-1', one.startedAt, { location: 500 }) : one,
  );
  expect(open(...idle)).toEqual(['pg-2', 'pg-3']);
});
