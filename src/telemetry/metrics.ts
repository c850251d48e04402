// The metrics of one program, on their own registry. Names follow the conventions of Prometheus: base units, `_total`
// for counters, Unix time for points in time. Process metrics keep prom-client's names. deploy/metrics.md lists all.
import { Gauge, Registry, collectDefaultMetrics } from './prometheus.ts';
import type { PoolName } from '../model/policy.ts';
import { createEventMetrics } from './event-metrics.ts';
import type { EventMetrics } from './event-metrics.ts';
import { HARDLY_EVER_MS, registerEventLoopLag } from './event-loop-lag.ts';
import { createStatusMetrics, unixSeconds } from './status-metrics.ts';
import type { StatusSource } from './status-metrics.ts';

export interface MetricsOptions {
  readonly version: string;
  /** `v24.12.0` */
  readonly nodeVersion: string;
  /** The pools of the configuration; `learn` adds those of a later one. */
  readonly pools: readonly PoolName[];
  readonly source: StatusSource;
}

export interface Metrics {
  readonly count: EventMetrics['count'];
  readonly learn: EventMetrics['learn'];
  readonly contentType: string;
  /** The current exposition. */
  readonly text: () => Promise<string>;
}

export function createMetrics({ version, nodeVersion, pools, source }: MetricsOptions): Metrics {
  const registry = new Registry();
  const events = createEventMetrics({ registry, now: source.now });
  events.learn(pools);
  const refresh = createStatusMetrics(registry, source);
  new Gauge({
    name: 'pointsman_build_info',
    help: 'Always 1. The labels name the version and the Node version.',
    labelNames: ['version', 'node_version'] as const,
    registers: [registry],
  }).set({ version, node_version: nodeVersion }, 1);
  const lastDiscovery = new Gauge({
    name: 'pointsman_discovery_timestamp_seconds',
    help: 'Last successful read of the member list (Unix time); absent before the first.',
    // Without a label the series would exist, with 0, before the first read.
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
      if (at !== undefined) lastDiscovery.set({ source: 'cluster' }, unixSeconds(source, at));
      return registry.metrics();
    },
  };
}
