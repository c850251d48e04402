// The time without a route: from its changes, by cause, with the outage that is running.
import { expect, test } from 'vitest';
import type { Route } from '../../../src/core/routing-table.ts';
import { RouteHistory } from '../../../src/history/route-history.ts';

const OPEN: Route = {
  kind: 'open',
  targets: [{ member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } }],
  fallback: undefined,
};
const CLOSED: Route = { kind: 'closed' };
const hold = (cause: Extract<Route, { kind: 'hold' }>['cause']): Route => ({ kind: 'hold', cause });

const moment = (at: number) => ({ at, wallClock: at });

/** A history that began at `startedAt`, with a table that has these pools. */
function started(startedAt: number, ...pools: readonly string[]) {
  const history = new RouteHistory(moment(startedAt));
  return {
    at: (at: number, routes: Readonly<Record<string, Route>>): void => {
      for (const [pool, to] of Object.entries(routes)) {
        history.take({ pool, from: pools.includes(pool) ? hold('starting') : undefined, to }, moment(at));
      }
    },
    remove: (at: number): void => history.retain(new Set(pools), moment(at)),
    /** Only the causes with time. */
    seen: (now: number): Readonly<Record<string, Readonly<Record<string, number>>>> =>
      Object.fromEntries(
        [...history.timesWithoutRoute(pools, now)].map(([name, causes]) => [
          name,
          Object.fromEntries(Object.entries(causes).filter(([, ms]) => ms > 0)),
        ]),
      ),
  };
}

test('an outage counts while it runs, and exactly after its end; a route costs nothing', () => {
  const { at, seen } = started(1000, 'write');
  expect(seen(1100)).toEqual({ write: { starting: 100 } });
  at(1200, { write: OPEN });
  at(5000, { write: hold('no_member') });
  expect(seen(5700)).toEqual({ write: { starting: 200, no_member: 700 } });
  expect(seen(7000)).toEqual({ write: { starting: 200, no_member: 2000 } });
  at(7500, { write: OPEN });
  expect(seen(99_000)).toEqual({ write: { starting: 200, no_member: 2500 } });
});

test('each cause has its own time, refused clients too', () => {
  const { at, seen } = started(0, 'write', 'read');
  at(0, { write: hold('switchover'), read: OPEN });
  at(100, { write: hold('drained'), read: CLOSED });
  at(300, { write: hold('two_primaries'), read: OPEN });
  expect(seen(400)).toEqual({
    write: { switchover: 100, drained: 200, two_primaries: 100 },
    read: { closed: 200 },
  });
});

test('a pool of a reload counts from that decision on, a removed one no more', () => {
  const { at, seen, remove } = started(0, 'write');
  at(0, { write: OPEN });
  at(1000, { reports: hold('no_member') });
  expect(seen(1500)).toEqual({ write: {}, reports: { no_member: 500 } });
  remove(2000);
  expect(seen(9000)).toEqual({ write: {}, reports: { no_member: 1000 } });
});
