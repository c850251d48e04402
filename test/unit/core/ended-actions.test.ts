// An action that waits for its time, or that drains, ends early when the table no longer demands it.
import { describe, expect, test } from 'vitest';
import { isOver } from '../../../src/core/actions.ts';
import type { Action } from '../../../src/core/actions.ts';
import type { OpenRoute, Route, RoutingTable, Target } from '../../../src/core/routing-table.ts';
import { leave } from '../../../src/core/standing.ts';
import type { Standing } from '../../../src/core/standing.ts';
import type { Address } from '../../../src/model/member.ts';
import { aList, aPolicy, aPool, aTable, aWritePool, isPrimary, isReplica } from '../../support/values/builders.ts';

const POLICY = aPolicy({ pools: [aWritePool(), aPool()] });
const HERE: Address = { host: 'pg-2', port: 5432 };
const ELSEWHERE: Address = { host: '10.0.0.9', port: 5432 };
const OPEN: Standing = { kind: 'open', why: { code: 'positive' } };
const KEEP: Standing = { kind: 'keep', why: { code: 'no_answer' } };
const DUE: Standing = { kind: 'keep', why: { code: 'switchover_due' } };
const GONE: Route = { kind: 'hold', cause: 'no_member' };
const OTHER: Target = { member: 'pg-3', address: { host: 'pg-3', port: 5432 } };
const SUSPECT: Target = { ...OTHER, member: 'pg-4', isSuspect: true };
const SERVED = aTable(
  POLICY,
  100,
  aList(0, 'pg-1', 'pg-2', 'pg-3'),
  isPrimary('pg-1', 0),
  isReplica('pg-2', 0),
  isReplica('pg-3', 0),
);

/** The table of a pool `read` in which pg-2 stands like this at this address, and pg-3 is open or not. */
function table(standing: Standing | undefined, address: Address | undefined = HERE, route?: Route): RoutingTable {
  const read = SERVED.pools.get('read');
  if (read === undefined) throw new Error('no pool');
  const decision = {
    ...read,
    route: route ?? read.route,
    standings: new Map(standing === undefined ? [] : [['pg-2', standing] as const]),
    addresses: new Map(standing === undefined ? [] : [['pg-2', address] as const]),
  };
  return { ...SERVED, pools: new Map([['read', decision]]) };
}

function open(targets: readonly [Target, ...Target[]], fallback?: OpenRoute['fallback']): OpenRoute {
  return { kind: 'open', targets, fallback };
}

function action(cause: Action['cause'], more: Partial<Action> = {}): Action {
  const why = { code: 'positive' } as const;
  return { kind: 'evict', pool: 'read', member: 'pg-2', address: HERE, afterMs: 0, cause, mode: 'drain', why, ...more };
}

describe('for what the member did', () => {
  test.each<[string, boolean, RoutingTable]>([
    ['it is still out', false, table(leave('tagged_out', { code: 'refused' }))],
    ['it is open again', true, table(OPEN)],
    ['it is kept again', true, table(KEEP)],
    ['another server is open at its new address', false, table(OPEN, ELSEWHERE)],
    ['nobody knows it any more', false, table(undefined)],
    ['its pool is gone', false, { ...SERVED, pools: new Map() }],
  ])('%s: over is %s', (_, over, now) => {
    expect(isOver(action('tagged_out'), now)).toBe(over);
  });
});

describe('for an operation', () => {
  test.each<[string, boolean, RoutingTable]>([
    ['it goes on', false, table(leave('switchover', { code: 'drained' }))],
    ['the member died: that is another action', true, table(leave('dead', { code: 'refused' }))],
    ['it was taken back', true, table(OPEN)],
    ['another server is open at the new address', false, table(OPEN, ELSEWHERE)],
    ['nobody knows the member any more', false, table(undefined)],
  ])('%s: over is %s', (_, over, now) => {
    expect(isOver(action('switchover'), now)).toBe(over);
  });
});

describe('because another member serves better', () => {
  const lagging = leave('lagging', { code: 'lagging' });
  test.each<[string, boolean, RoutingTable]>([
    ['there is one', false, table(lagging)],
    ['there is none any more', true, table(lagging, HERE, GONE)],
    ['one of the others has missed a probe', false, table(lagging, HERE, open([SUSPECT, OTHER]))],
    ['each of the others has missed one', true, table(lagging, HERE, open([SUSPECT]))],
    ['the others lag, too', true, table(lagging, HERE, { ...open([OTHER]), lagging: { maxSessions: 9 } })],
    ['the fallback alone serves', true, table(lagging, HERE, open([OTHER], { pool: 'write', maxSessions: 9 }))],
    ['the pool is gone, and with it the others', true, { ...SERVED, pools: new Map() }],
  ])('%s: over is %s', (_, over, now) => {
    expect(isOver(action('lagging'), now)).toBe(over);
  });

  const out = leave('tagged_out', { code: 'refused' });
  test.each<[Action['cause'], Action['why']['code'], boolean]>([
    ['lagging', 'positive', true],
    ['check_failed', 'positive', true],
    ['old_timeline', 'positive', true],
    ['fallback_over', 'positive', true],
    ['promoted', 'exclusive_elsewhere', true],
    ['promoted', 'fallback', true],
    ['promoted', 'positive', false],
    ['tagged_out', 'fallback', false],
  ])('for %s (%s) there is none: over is %s', (cause, code, over) => {
    expect(isOver(action(cause, { why: { code } }), table(out, HERE, GONE))).toBe(over);
  });

  test('sessions that are closed for it do not come back for want of another member', () => {
    expect(isOver(action('lagging', { mode: 'close' }), table(lagging, HERE, GONE))).toBe(false);
  });
});

describe('before a switchover that is due', () => {
  test.each<[string, boolean, RoutingTable]>([
    ['it is still due', false, table(DUE)],
    ['the primary is kept for another reason', true, table(KEEP)],
    ['the primary has stepped down', true, table(leave('demoted', { code: 'wrong_role' }))],
    ['another server has its name', true, table(DUE, ELSEWHERE)],
    ['nobody knows the primary any more', true, table(undefined)],
  ])('%s: over is %s', (_, over, now) => {
    expect(isOver(action('switchover', { keepsPinned: true, mode: 'drain_idle' }), now)).toBe(over);
  });
});
