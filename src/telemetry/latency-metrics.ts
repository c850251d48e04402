// How fast members answer, as `balance: latency` observed it. Other pools have no series.
import type { Series } from './families.ts';
import { scraped, type ScrapedMetric } from './scrape.ts';

export const LATENCY_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_member_latency_seconds',
    'Time of a member of a pool with balance latency, as a geometric mean: to the first byte of a reply, of a login.',
    ['pool', 'member', 'of'],
    ({ counts }) =>
      [...counts].flatMap(([pool, { latency = new Map() }]) =>
        [...latency].flatMap(([member, { requestMs, loginMs }]) => [
          ...inSeconds({ pool, member, of: 'request' }, requestMs),
          ...inSeconds({ pool, member, of: 'login' }, loginMs),
        ]),
      ),
  ),
  scraped(
    'pointsman_member_latency_share',
    'Part of its weight that a member of a pool with balance latency has for new sessions.',
    ['pool', 'member'],
    ({ counts }) =>
      [...counts].flatMap(([pool, { latency = new Map() }]) =>
        [...latency].map(([member, { share }]): Series<'pool' | 'member'> => [{ pool, member }, share]),
      ),
  ),
];

/** Nothing where nothing was observed. */
function inSeconds(
  labels: Series<'pool' | 'member' | 'of'>[0],
  ms: number | undefined,
): readonly Series<'pool' | 'member' | 'of'>[] {
  return ms === undefined ? [] : [[labels, ms / 1000]];
}
