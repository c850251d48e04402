// The primary and the last time without a route for writes, as the status document has them.
import { expect, test } from 'vitest';
import { buildStatus } from '../../../src/admin/status.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { openRoute } from '../../../src/core/routing-table.ts';
import type { OpenRoute, Route, RoutingTable } from '../../../src/core/routing-table.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica } from '../../support/values/builders.ts';
import { DecidedHistory } from '../../support/values/decided-history.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const policy = aPolicy();
const NOW = 4000;
const BEGIN = STATUS_BASICS.wallClock - NOW;
const snapshot = aSnapshot(policy, aList(0, 'pg-1', 'pg-2'), isPrimary('pg-1', 3000), isReplica('pg-2', 3500));
const table = decideRoutes(policy, snapshot, NOW);
const open = openWrite();
const hold = { kind: 'hold', cause: 'no_member' } as const;

function openWrite(): OpenRoute {
  const route = openRoute(table, 'write');
  if (route === undefined) throw new Error('the fixture has a primary');
  return route;
}

function incidentAt(from: number, to: number | undefined): string {
  return `${from - BEGIN}-${to && to - BEGIN}`;
}

/** Decides each of them one second after the one before. */
function clusterAfter(...routes: readonly Route[]): StatusDocument['cluster'] {
  const decisions = new DecidedHistory(policy, { epoch: BEGIN });
  for (const [index, to] of routes.entries()) decisions.take(snapshot, tableWith(to, 1500 + 1000 * index));
  const inputs = { ...STATUS_BASICS, now: NOW, pools: policy.pools, table, snapshot, counts: new Map() };
  return buildStatus({ ...inputs, history: decisions.history, incidentAt }).cluster;
}

function tableWith(route: Route, decidedAt: number): RoutingTable {
  const pools = new Map(table.pools);
  const write = pools.get('write');
  if (write !== undefined) pools.set('write', { ...write, route });
  return { ...table, decidedAt, pools };
}

test('none', () => {
  expect(clusterAfter(open)).toMatchObject({
    primary: { member: 'pg-1', since: '2025-12-31T23:59:57.500Z', timeline: 1 },
    last_interruption: null,
  });
});

test('it lasts', () => {
  expect(clusterAfter(open, hold)).toMatchObject({
    primary: null,
    last_interruption: {
      pool: 'write',
      from: '2025-12-31T23:59:58.500Z',
      to: null,
      seconds: 1.5,
      incident_id: '2500-undefined',
      text: 'pool write has had no route for 1.5 s; pg-1 served it before',
    },
  });
});

test('it is over, with the same member or with another one', () => {
  const [target] = open.targets;
  const other: OpenRoute = { ...open, targets: [{ ...target, member: 'pg-2' }] };
  expect(clusterAfter(open, hold, open).last_interruption).toMatchObject({
    to: '2025-12-31T23:59:59.500Z',
    seconds: 1,
    incident_id: '2500-3500',
    text: 'pool write had no route for 1 s; pg-1 serves it again',
  });
  expect(clusterAfter(open, hold, other).last_interruption?.text).toBe(
    'pool write had no route for 1 s; pg-1 before, pg-2 after',
  );
});
