// Causal reads: the fate of each, and the time that they have waited. A pool without `causal_reads` has no series.
import type { Series } from './families.ts';
import { scraped, type ScrapedMetric } from './scrape.ts';

export const CAUSAL_METRICS: readonly ScrapedMetric[] = [
  scraped(
    'pointsman_causal_reads_total',
    'Transactions of pools with causal_reads, by result. Late are moved, error and stale.',
    ['pool', 'result'],
    ({ counts }) =>
      [...counts].flatMap(([pool, { causalReads }]) =>
        Object.entries(causalReads?.results ?? {}).map(([result, count]): Series<'pool' | 'result'> => [
          { pool, result },
          count,
        ]),
      ),
  ),
  scraped(
    'pointsman_causal_read_wait_seconds_total',
    'Time that causal reads have waited for their servers.',
    ['pool'],
    ({ counts }) =>
      [...counts].map(([pool, { causalReads }]) => [{ pool }, causalReads && causalReads.waitedMs / 1000]),
  ),
  scraped('pointsman_causal_reads_waiting', 'Causal reads that wait now.', ['pool'], ({ counts }) =>
    [...counts].map(([pool, { causalReads }]) => [{ pool }, causalReads?.waiting]),
  ),
];
