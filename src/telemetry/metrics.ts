// The metrics of one program, on their own registry. Names follow the conventions of Prometheus: base units, `_total`
// for counters, Unix time for points in time. Process metrics keep prom-client's names. deploy/metrics.md lists all.
import { Registry, collectDefaultMetrics } from './prometheus.ts';
import type { PoolName } from '../model/policy.ts';
import { isBranchEvent } from '../reports/branch-events.ts';
import type { ReportedEvent } from '../reports/events.ts';
import { isMoveFailure } from '../model/close-reason.ts';
import { isMoveEvent } from '../reports/move-events.ts';
import { createBranchMetrics, type BranchMetrics } from './branch-metrics.ts';
import { createEventMetrics, type EventMetrics } from './event-metrics.ts';
import { familiesIn } from './families.ts';
import { HARDLY_EVER_MS, registerEventLoopLag } from './event-loop-lag.ts';
import { createMoveMetrics, type MoveMetrics } from './move-metrics.ts';
import { createStatusMetrics, unixSeconds, type StatusSource } from './status-metrics.ts';

const SUMS_OF_PROM_CLIENT = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

export interface MetricsOptions {
  readonly version: string;
  /** `v24.12.0` */
  readonly nodeVersion: string;
  /** The pools of the configuration; `learn` adds those of a later one. */
  readonly pools: readonly PoolName[];
  readonly source: StatusSource;
}

export interface Metrics {
  readonly count: (event: ReportedEvent) => void;
  readonly learn: EventMetrics['learn'];
  readonly contentType: string;
  /** The current exposition. */
  readonly text: () => Promise<string>;
}

export function createMetrics({ version, nodeVersion, pools, source }: MetricsOptions): Metrics {
  const registry = new Registry();
  const { gauge } = familiesIn(registry);
  const events = createEventMetrics({ registry, now: source.now });
  events.learn(pools);
  const setStatus = createStatusMetrics(registry, source);
  gauge('pointsman_build_info', 'Always 1. The labels name the version and the Node version.', [
    'version',
    'node_version',
  ]).set({ version, node_version: nodeVersion }, 1);
  const lastDiscovery = gauge(
    'pointsman_discovery_last_success_timestamp_seconds',
    'Last successful read of the member list (Unix time); absent before the first.',
  );
  lastDiscovery.remove();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HARDLY_EVER_MS });
  registerEventLoopLag(registry);
  // Gauges must not end in _total, and each is only the sum of its series by type.
  for (const name of SUMS_OF_PROM_CLIENT) registry.removeSingleMetric(name);
  let branches: BranchMetrics | undefined;
  const ofBranches = (): BranchMetrics => (branches ??= createBranchMetrics(registry));
  let moves: MoveMetrics | undefined;
  const ofMoves = (): MoveMetrics => (moves ??= createMoveMetrics(registry));
  const count = (event: ReportedEvent): void => {
    if (isBranchEvent(event)) return ofBranches().count(event);
    if (isMoveEvent(event)) return ofMoves().count(event);
    if (event.kind === 'session_closed' && isMoveFailure(event.reason)) ofMoves().count(event);
    return events.count(event);
  };
  return {
    count,
    learn: events.learn,
    contentType: registry.contentType,
    text: () => {
      events.retain(setStatus());
      const at = events.discoveredAt();
      if (at !== undefined) lastDiscovery.set(unixSeconds(source, at));
      const list = source.branches();
      if (list === undefined) branches?.clear();
      else ofBranches().set(list, (instant) => unixSeconds(source, instant));
      if (source.hasMoves()) ofMoves();
      moves?.set(
        source.pools().map(({ name }) => name),
        source.counts(),
      );
      return registry.metrics();
    },
  };
}
