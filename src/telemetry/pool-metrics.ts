// The routes of the pools, and the time without one.
import type { PoolDecision, Route, RoutingTable } from '../core/routing-table.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import type { Families } from './families.ts';

const ROUTES: readonly Route['kind'][] = ['open', 'hold', 'closed'];

export interface PoolMetricsOptions {
  readonly table: RoutingTable;
  readonly history: Pick<ClusterHistory, 'routes'>;
  readonly now: Instant;
}

/** Returns a function that updates the values. */
export function createPoolMetrics(families: Families): (options: PoolMetricsOptions) => void {
  const gauges = routeGauges(families);
  const noRouteSeconds = families.counter(
    'pointsman_pool_no_route_seconds_total',
    'Time without a route, by cause: clients wait (closed: are refused). Contains the outage that is running.',
    ['pool', 'cause'],
  );
  return ({ table, history, now }) => {
    for (const gauge of Object.values(gauges)) gauge.reset();
    for (const [pool, decision] of table.pools) setDecision(gauges, pool, decision);
    noRouteSeconds.reset();
    for (const [pool, times] of history.routes.timesWithoutRoute(table.pools.keys(), now)) {
      for (const [cause, ms] of Object.entries(times)) noRouteSeconds.inc({ pool, cause }, ms / 1000);
    }
  };
}

type RouteGauges = ReturnType<typeof routeGauges>;

function setDecision(gauges: RouteGauges, pool: PoolName, { route }: PoolDecision): void {
  for (const kind of ROUTES) gauges.route.set({ pool, route: kind }, route.kind === kind ? 1 : 0);
  const isLent = route.kind === 'open' && route.fallback !== undefined;
  gauges.fallback.set({ pool }, isLent ? 1 : 0);
  gauges.lagging.set({ pool }, route.kind === 'open' && route.lagging !== undefined ? 1 : 0);
  gauges.targets.set({ pool }, route.kind === 'open' ? route.targets.length : 0);
}

function routeGauges({ gauge }: Families) {
  return {
    route: gauge(
      'pointsman_pool_route',
      'Route of the pool (1 for the current one): open, hold (clients wait) or closed (clients are refused).',
      ['pool', 'route'],
    ),
    fallback: gauge('pointsman_pool_fallback_active', '1 while the pool uses the members of its fallback pool.', [
      'pool',
    ]),
    lagging: gauge(
      'pointsman_pool_lagging_active',
      '1 while every member of the pool is over the lag limit and those with the smallest lag are used.',
      ['pool'],
    ),
    targets: gauge('pointsman_pool_open_members', 'Members that receive new sessions of the pool, fallback included.', [
      'pool',
    ]),
  };
}
