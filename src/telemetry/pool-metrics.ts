// The routes of the pools, and the time without one.
import type { Route } from '../core/routing-table.ts';
import type { Series } from './families.ts';
import { flag, scraped, type ScrapedMetric } from './scrape.ts';

const ROUTES: readonly Route['kind'][] = ['open', 'hold', 'closed'];

export const POOL_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_pool_route',
    'Route of the pool (1 for the current one): open, hold (clients wait) or closed (clients are refused).',
    ['pool', 'route'],
    ({ table }) =>
      [...table.pools].flatMap(([pool, { route }]) =>
        ROUTES.map((kind): Series<'pool' | 'route'> => [{ pool, route: kind }, flag(route.kind === kind)]),
      ),
  ),
  ofRoutes('pointsman_pool_fallback_active', '1 while the pool uses the members of its fallback pool.', (route) =>
    flag(route.kind === 'open' && route.fallback !== undefined),
  ),
  ofRoutes(
    'pointsman_pool_lagging_active',
    '1 while every member of the pool is over the lag limit and those with the smallest lag are used.',
    (route) => flag(route.kind === 'open' && route.lagging !== undefined),
  ),
  ofRoutes(
    'pointsman_pool_open_members',
    'Members that receive new sessions of the pool, fallback included.',
    (route) => (route.kind === 'open' ? route.targets.length : 0),
  ),
  scraped(
    'pointsman_pool_no_route_seconds_total',
    'Time without a route, by cause: clients wait (closed: are refused). Contains the outage that is running.',
    ['pool', 'cause'],
    ({ table, history, now }) =>
      [...history.routes.timesWithoutRoute(table.pools.keys(), now)].flatMap(([pool, times]) =>
        Object.entries(times).map(([cause, ms]): Series<'pool' | 'cause'> => [{ pool, cause }, ms / 1000]),
      ),
  ),
];

/** A gauge with a value for each pool. */
function ofRoutes(name: string, help: string, read: (route: Route) => number): ScrapedMetric {
  return scraped(name, help, ['pool'], ({ table }) =>
    [...table.pools].map(([pool, { route }]) => [{ pool }, read(route)]),
  );
}
