// Routes that are compared: where new sessions go, and whether that has changed.
import { expect, test } from 'vitest';
import {
  hasSameTargets,
  HOLD_WORDS,
  includesTarget,
  isPlanned,
  openRoute,
  type OpenRoute,
  type Route,
  type Target,
} from '../../../src/core/routing-table.ts';
import { aList, aPolicy, aTable, isPrimary, isReplica } from '../../support/values/builders.ts';

const ONE = aTarget('pg-1');
const TWO = aTarget('pg-2');

function aTarget(member: string, host = member): Target {
  return { member, address: { host, port: 5432 } };
}

function open(...[first = ONE, ...rest]: readonly Target[]): OpenRoute {
  return { kind: 'open', targets: [first, ...rest], fallback: undefined };
}

test('the route of a pool that takes sessions', () => {
  const round = [aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 0), isReplica('pg-2', 0)];
  expect(openRoute(aTable(aPolicy(), 100, ...round), 'write')).toEqual(open(ONE));
  expect(openRoute(aTable(aPolicy(), 5000, ...round), 'write'), 'it holds').toBeUndefined();
  expect(openRoute(aTable(aPolicy(), 100, ...round), 'none')).toBeUndefined();
});

test('a target is a member at an address', () => {
  expect(includesTarget([ONE, TWO], TWO)).toBe(true);
  expect(includesTarget([ONE, TWO], aTarget('pg-2', 'elsewhere'))).toBe(false);
  expect(includesTarget([ONE, TWO], aTarget('pg-3', 'pg-2'))).toBe(false);
  expect(includesTarget([], ONE)).toBe(false);
});

test.each<[string, Route | undefined, boolean]>([
  ['the same servers', open({ ...ONE, weight: 3 }, TWO), true],
  ['no route before', undefined, false],
  ['a hold before', { kind: 'hold', cause: 'no_member' }, false],
  ['another order', open(TWO, ONE), false],
  ['one server less', open(ONE), false],
  ['one server more', open(ONE, TWO, aTarget('pg-3')), false],
  ['another server of the same name', open(ONE, aTarget('pg-2', 'elsewhere')), false],
  ['another member at the same address', open(ONE, aTarget('pg-3', 'pg-2')), false],
])('a route beside %s', (_, before, isSame) => {
  expect(hasSameTargets(before, open(ONE, TWO))).toBe(isSame);
});

test('clients wait because an operator wants it', () => {
  const holds = Object.keys(HOLD_WORDS).filter((cause) => isPlanned({ kind: 'hold', cause }));
  expect(holds).toEqual(['drained', 'switchover', 'restart']);
  expect(isPlanned({ kind: 'open', cause: 'drained' })).toBe(false);
  expect(isPlanned({ kind: 'hold' })).toBe(false);
});
