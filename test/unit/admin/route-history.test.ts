// The history of routes, from the decisions that it is given.
import { expect, test } from 'vitest';
import { RouteHistory } from '../../../src/admin/route-history.ts';
import { changesBetween } from '../../../src/monitor/changes.ts';
import { decideRoutes, emptyTable } from '../../../src/core/decide-routes.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { withDrained } from '../../../src/core/snapshot.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';

const policy = aPolicy();
const WALL = Date.UTC(2026, 0, 1);
const LIST = aList(0, 'pg-1', 'pg-2');

class Decisions {
  readonly history = new RouteHistory();
  #table = emptyTable(policy, aSnapshot(policy), 0);

  /** Decides at `at`; the history learns of it 5 ms later. */
  decide(at: number, ...observations: readonly Observation[]): this {
    return this.decideOn(aSnapshot(policy, LIST, ...observations), at);
  }

  decideOn(snapshot: Snapshot, at: number): this {
    const table = decideRoutes(policy, snapshot, at);
    for (const change of changesBetween(this.#table, table)) {
      if (change.kind === 'route_changed')
        this.history.take(change, { policy, table }, { at: at + 5, wallClock: WALL + at + 5 });
    }
    this.#table = table;
    return this;
  }
}

const moment = (at: number): object => ({ at, wallClock: WALL + at });

test('before the first route there is nothing', () => {
  const { history } = new Decisions().decide(100);
  expect([history.since('write'), history.primary(), history.lastInterruption()]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('the start is no interruption', () => {
  const { history } = new Decisions().decide(1000, isPrimary('pg-1', 900), isReplica('pg-2', 900));
  expect(history.since('write')).toEqual(moment(1000));
  expect(history.primary()).toEqual({ member: 'pg-1', since: moment(1000) });
  expect(history.lastInterruption()).toBeUndefined();
});

test('a failover is an interruption, from the decision that lost the route to the one that gave it back', () => {
  const decisions = new Decisions()
    .decide(1000, isPrimary('pg-1', 900), isReplica('pg-2', 900))
    .decide(2000, isReplica('pg-1', 1900), isReplica('pg-2', 1900));
  const lost = { pool: 'write', from: moment(2000), before: 'pg-1' };
  expect(decisions.history.primary()).toBeUndefined();
  expect(decisions.history.lastInterruption()).toEqual({ ...lost, to: undefined, after: undefined });
  decisions.decide(6100, isReplica('pg-1', 6000), isPrimary('pg-2', 6000));
  expect(decisions.history.primary()).toEqual({ member: 'pg-2', since: moment(6100) });
  expect(decisions.history.lastInterruption()).toEqual({ ...lost, to: moment(6100), after: 'pg-2' });
});

test('the primary that gets its route back has been the primary since before', () => {
  const decisions = new Decisions()
    .decide(1000, isPrimary('pg-1', 900), isReplica('pg-2', 900))
    .decide(2000, isReplica('pg-1', 1900), isReplica('pg-2', 1900));
  expect(decisions.history.primary()).toBeUndefined();
  decisions.decide(3000, isPrimary('pg-1', 2900), isReplica('pg-2', 2900));
  expect(decisions.history.primary()).toEqual({ member: 'pg-1', since: moment(1000) });
  expect(decisions.history.since('write')).toEqual(moment(3000));
});

test('a pool for reads that loses its members is no interruption of writes', () => {
  const first = aSnapshot(policy, LIST, isPrimary('pg-1', 900), isReplica('pg-2', 900));
  const decisions = new Decisions().decideOn(first, 1000);
  decisions.decideOn(withDrained(first, 'pg-2', 1000), 1100);
  expect(decisions.history.since('read')).toEqual(moment(1100));
  expect(decisions.history.since('write')).toEqual(moment(1000));
  expect(decisions.history.lastInterruption()).toBeUndefined();
});
