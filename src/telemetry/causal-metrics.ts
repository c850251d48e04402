// Causal reads: the fate of each, and how long they have waited. A pool without `causal_reads` has no series.
import { READ_WAIT_BOUNDS_MS } from '../reports/causal-reads.ts';
import type { Series } from './families.ts';
import { scraped, scrapedHistogram, type ScrapedMetric } from './scrape.ts';

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
  scrapedHistogram(
    'pointsman_causal_read_wait_seconds',
    'Time that causal reads have waited for their servers, whatever the result; free ones are left out.',
    READ_WAIT_BOUNDS_MS,
    ({ counts }) =>
      [...counts].flatMap(([pool, { causalReads }]) =>
        causalReads === undefined ? [] : [{ labels: { pool }, counts: causalReads.waits, sumMs: causalReads.waitedMs }],
      ),
  ),
  scraped('pointsman_causal_reads_waiting', 'Causal reads that wait now.', ['pool'], ({ counts }) =>
    [...counts].map(([pool, { causalReads }]) => [{ pool }, causalReads?.waiting]),
  ),
  scraped(
    'pointsman_causal_reads_scope',
    '1 for a pool with causal_reads. Its reads see the acknowledged writes of the cluster, or those through the proxy.',
    ['pool', 'writes'],
    ({ pools }) =>
      pools.flatMap(({ name, causalReads }): readonly Series<'pool' | 'writes'>[] =>
        causalReads === undefined ? [] : [[{ pool: name, writes: causalReads.scope }, 1]],
      ),
  ),
];
