// The wait of causal reads as a histogram, which workers count, and the failures of the questions that they need.
import { expect, test } from 'vitest';
import { createEventTotals } from '../../../src/telemetry/event-totals.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { POSITION_METRICS } from '../../../src/telemetry/position-metrics.ts';
import { Registry } from '../../../src/telemetry/prometheus.ts';
import { NO_READS, NO_RESULTS, READ_WAIT_BOUNDS_MS } from '../../../src/reports/causal-reads.ts';
import { aPool, aWritePool } from '../../support/values/builders.ts';
import { NO_COUNTS, aStatusSource } from '../../support/values/status-source.ts';

test('a histogram has the number of waits up to each bound, and a pool without causal reads has none', async () => {
  const waits = [...READ_WAIT_BOUNDS_MS.map(() => 1), 2];
  const causalReads = { results: NO_RESULTS, waitedMs: 3500, waits, waiting: 3, lastMinute: NO_READS };
  const metrics = createMetrics({
    version: '1.2.3',
    nodeVersion: 'v24.12.0',
    pools: ['write', 'read'],
    ...aStatusSource({
      counts: () =>
        new Map([
          ['write', NO_COUNTS],
          ['read', { ...NO_COUNTS, causalReads }],
        ]),
    }),
  });
  const text = await metrics.text();
  const lines = text.split('\n').filter((line) => line.includes('causal_read_wait_seconds'));
  expect(lines).toHaveLength(2 + 13 + 3);
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE pointsman_causal_read_wait_seconds histogram',
      'pointsman_causal_read_wait_seconds_bucket{le="0.0001",pool="read",scope="lab"} 1',
      'pointsman_causal_read_wait_seconds_bucket{le="1",pool="read",scope="lab"} 13',
      'pointsman_causal_read_wait_seconds_bucket{le="+Inf",pool="read",scope="lab"} 15',
      'pointsman_causal_read_wait_seconds_sum{pool="read",scope="lab"} 3.5',
      'pointsman_causal_read_wait_seconds_count{pool="read",scope="lab"} 15',
    ]),
  );
});

test('the scope of a pool is the label of a series that is 1', async () => {
  const causalReads = { scope: 'proxy', waitMs: 500, late: 'error' } as const;
  const metrics = createMetrics({
    version: '1.2.3',
    nodeVersion: 'v24.12.0',
    pools: ['write', 'read'],
    ...aStatusSource({ pools: () => [aWritePool(), aPool({ causalReads })] }),
  });
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('pointsman_causal_reads_scope'));
  expect(lines).toEqual(['pointsman_causal_reads_scope{pool="read",writes="proxy",scope="lab"} 1']);
});

test('the failures of a member begin at 0 with its connection: the first one shows as an increase', async () => {
  const registry = new Registry();
  const metrics = createEventTotals(registry, POSITION_METRICS);
  const failures = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('pointsman_position_failures_total{'));
  metrics.count({ kind: 'positions_connected', member: 'pg-1' });
  expect(await failures()).toEqual(['pointsman_position_failures_total{member="pg-1"} 0']);
  metrics.count({ kind: 'positions_failed', member: 'pg-1', why: 'no answer' });
  metrics.count({ kind: 'positions_connected', member: 'pg-1' });
  expect(await failures()).toEqual(['pointsman_position_failures_total{member="pg-1"} 1']);
});
