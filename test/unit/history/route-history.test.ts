// The history of routes, from the decisions that it is given.
import { expect, test } from 'vitest';
import type { Observation } from '../../../src/model/observation.ts';
import type { Route } from '../../../src/core/routing-table.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import { aList, aPolicy, aSnapshot, aWritePool, isPrimary, isReplica } from '../../support/values/builders.ts';
import { DecidedHistory } from '../../support/values/decided-history.ts';

const policy = aPolicy();
const WALL = Date.UTC(2026, 0, 1);
const LIST = aList(0, 'pg-1', 'pg-2');

class Decisions extends DecidedHistory {
  constructor() {
    super(policy, { epoch: WALL, lateMs: 5 });
  }

  decideAt(at: number, ...observations: readonly Observation[]): this {
    return this.decide(aSnapshot(policy, LIST, ...observations), at);
  }
}

const moment = (at: number): object => ({ at, wallClock: WALL + at });

test('before the first route there is nothing', () => {
  const { history } = new Decisions().decideAt(100);
  expect([history.routes.since('write'), history.primary(), history.lastInterruption()]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('the start is no interruption', () => {
  const { history } = new Decisions().decideAt(1000, isPrimary('pg-1', 900), isReplica('pg-2', 900));
  expect(history.routes.since('write')).toEqual(moment(1000));
  expect(history.primary()).toEqual({ member: 'pg-1', timeline: 1, since: moment(1000) });
  expect(history.lastInterruption()).toBeUndefined();
});

test('a cluster without a primary at the start is no interruption; a pool that begins to start neither', () => {
  const { history } = new Decisions()
    .decideAt(1000, isReplica('pg-1', 900), isReplica('pg-2', 900))
    .decideAt(2000, isPrimary('pg-1', 1900), isReplica('pg-2', 1900));
  expect(history.routes.interruption('write')).toMatchObject({ from: moment(1000), to: moment(2000) });
  expect(history.lastInterruption()).toBeUndefined();
  const starting = { kind: 'hold', cause: 'starting' } as const;
  history.take({ kind: 'route_changed', pool: 'new', from: undefined, to: starting }, 2000);
  expect(history.routes.interruption('new')).toBeUndefined();
});

test('a failover is an interruption, from the decision that lost the route to the one that gave it back', () => {
  const decisions = new Decisions()
    .decideAt(1000, isPrimary('pg-1', 900), isReplica('pg-2', 900))
    .decideAt(2000, isReplica('pg-1', 1900), isReplica('pg-2', 1900));
  const lost = { pool: 'write', from: moment(2000), cause: 'no_member', before: 'pg-1' };
  expect(decisions.history.primary()).toBeUndefined();
  expect(decisions.history.lastInterruption()).toEqual({ ...lost, to: undefined, after: undefined });
  decisions.decideAt(6100, isReplica('pg-1', 6000), isPrimary('pg-2', 6000));
  expect(decisions.history.primary()).toEqual({ member: 'pg-2', timeline: 1, since: moment(6100) });
  expect(decisions.history.lastInterruption()).toEqual({ ...lost, to: moment(6100), after: 'pg-2' });
});

test('the primary that gets its route back has been the primary since before', () => {
  const decisions = new Decisions()
    .decideAt(1000, isPrimary('pg-1', 900), isReplica('pg-2', 900))
    .decideAt(2000, isReplica('pg-1', 1900), isReplica('pg-2', 1900));
  expect(decisions.history.primary()).toBeUndefined();
  decisions.decideAt(3000, isPrimary('pg-1', 2900), isReplica('pg-2', 2900));
  expect(decisions.history.primary()).toEqual({ member: 'pg-1', timeline: 1, since: moment(1000) });
  expect(decisions.history.routes.since('write')).toEqual(moment(3000));
});

test('a pool for reads that loses its members is no interruption of writes', () => {
  const first = aSnapshot(policy, LIST, isPrimary('pg-1', 900), isReplica('pg-2', 900));
  const decisions = new Decisions().decide(first, 1000);
  decisions.decide(withDrained(first, 'pg-2', 1000), 1100);
  expect(decisions.history.routes.since('read')).toEqual(moment(1100));
  expect(decisions.history.routes.since('write')).toEqual(moment(1000));
  expect(decisions.history.lastInterruption()).toBeUndefined();
});

test('several pools for writes: the interruption that began last is the newest', () => {
  const both = aPolicy({ pools: [aWritePool({ name: 'first' }), aWritePool({ name: 'second', check: '/leader' })] });
  const { history } = new DecidedHistory(both);
  const target = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
  const open = { kind: 'open', targets: [target], fallback: undefined } as const;
  const lost = { kind: 'hold', cause: 'no_member' } as const;
  const change = (pool: string, from: Route, to: Route, at: number): void =>
    history.take({ kind: 'route_changed', pool, from, to }, at);
  for (const pool of ['first', 'second']) change(pool, lost, open, 1000);
  change('second', open, lost, 2000);
  change('first', open, lost, 3000);
  expect(history.lastInterruption()).toMatchObject({ pool: 'first' });
});
