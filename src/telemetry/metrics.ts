// The metrics of one running program, on a registry of its own. Names follow the conventions of Prometheus: base units,
// `_total` for counters; the process's own metrics keep the names that dashboards expect.
import { Gauge, Registry, collectDefaultMetrics } from './prometheus.ts';
import type { PoolName } from '../model/policy.ts';
import { createEventMetrics } from './event-metrics.ts';
import type { EventMetrics } from './event-metrics.ts';
import { HARDLY_EVER_MS, registerEventLoopLag } from './event-loop-lag.ts';
import { createStatusMetrics } from './status-metrics.ts';
import type { StatusSource } from './status-metrics.ts';

export interface MetricsOptions {
  readonly version: string;
  /** `v24.12.0` */
  readonly nodeVersion: string;
  /** Every pool of the configuration; see `learn` for those of a later one. */
  readonly pools: readonly PoolName[];
  readonly source: StatusSource;
}

export interface Metrics {
  readonly count: EventMetrics['count'];
  readonly learn: EventMetrics['learn'];
  readonly contentType: string;
  /** The exposition at this moment. */
  readonly text: () => Promise<string>;
}

export function createMetrics({ version, nodeVersion, pools, source }: MetricsOptions): Metrics {
  const registry = new Registry();
  const events = createEventMetrics({ registry, now: source.now });
  events.learn(pools);
  const refresh = createStatusMetrics(registry, source);
  new Gauge({
    name: 'pointsman_build_info',
    help: 'Always 1: which build this is.',
    labelNames: ['version', 'node_version'] as const,
    registers: [registry],
  }).set({ version, node_version: nodeVersion }, 1);
  const discoveryAge = new Gauge({
    name: 'pointsman_discovery_age_seconds',
    help: 'Time since the member list was last read; absent before the first time.',
    // Without a label the series would be there, with 0, before the first time.
    labelNames: ['source'] as const,
    registers: [registry],
  });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HARDLY_EVER_MS });
  registerEventLoopLag(registry);
  return {
    count: events.count,
    learn: events.learn,
    contentType: registry.contentType,
    text: () => {
      events.retain(refresh());
      const at = events.discoveredAt();
      if (at !== undefined) discoveryAge.set({ source: 'cluster' }, Math.max(0, source.now() - at) / 1000);
      return registry.metrics();
    },
  };
}
