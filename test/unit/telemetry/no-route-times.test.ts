// The time without a route: from decisions, by cause, with the outage that is running.
import { expect, test } from 'vitest';
import type { Route, RoutingTable } from '../../../src/core/routing-table.ts';
import { NoRouteTimes } from '../../../src/telemetry/no-route-times.ts';
import { aTableOf } from '../../support/values/tables.ts';

const OPEN: Route = {
  kind: 'open',
  targets: [{ member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } }],
  fallback: undefined,
};
const CLOSED: Route = { kind: 'closed' };
const hold = (cause: Extract<Route, { kind: 'hold' }>['cause']): Route => ({ kind: 'hold', cause });

function at(decidedAt: number, routes: Readonly<Record<string, Route>>): RoutingTable {
  const standing = { standings: new Map(), addresses: new Map(), refused: [] };
  const pools = Object.entries(routes).map(([name, route]) => [name, { route, ...standing }] as const);
  return { ...aTableOf({}), decidedAt, pools: new Map(pools) };
}

/** Only the causes with time. */
function seen(times: NoRouteTimes, now: number): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const pools = [...times.until(now)].map(
    ([name, causes]) => [name, Object.fromEntries(Object.entries(causes).filter(([, ms]) => ms > 0))] as const,
  );
  return Object.fromEntries(pools);
}

test('an outage counts while it runs, and exactly after its end; a route costs nothing', () => {
  const times = new NoRouteTimes(1000);
  times.decided(at(1000, { write: hold('starting') }));
  times.decided(at(1200, { write: OPEN }));
  times.decided(at(5000, { write: hold('no_member') }));
  expect(seen(times, 5700)).toEqual({ write: { starting: 200, no_member: 700 } });
  times.decided(at(6500, { write: hold('no_member') }));
  expect(seen(times, 7000)).toEqual({ write: { starting: 200, no_member: 2000 } });
  times.decided(at(7500, { write: OPEN }));
  expect(seen(times, 99_000)).toEqual({ write: { starting: 200, no_member: 2500 } });
});

test('each cause has its own time, refused clients too', () => {
  const times = new NoRouteTimes(0);
  times.decided(at(0, { write: hold('switchover'), read: OPEN }));
  times.decided(at(100, { write: hold('drained'), read: CLOSED }));
  times.decided(at(300, { write: hold('two_primaries'), read: OPEN }));
  expect(seen(times, 400)).toEqual({
    write: { switchover: 100, drained: 200, two_primaries: 100 },
    read: { closed: 200 },
  });
});

test('a pool of a reload counts from that decision on, a removed one no more', () => {
  const times = new NoRouteTimes(0);
  times.decided(at(0, { write: OPEN }));
  times.decided(at(1000, { write: OPEN, reports: hold('no_member') }));
  expect(seen(times, 1500)).toEqual({ write: {}, reports: { no_member: 500 } });
  times.decided(at(2000, { write: OPEN }));
  expect(seen(times, 9000)).toEqual({ write: {}, reports: { no_member: 1000 } });
});
