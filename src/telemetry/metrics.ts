// The metrics of one program, on their own registry. Names follow the conventions of Prometheus: base units, `_total`
// for counters, Unix time for points in time. Process metrics keep prom-client's names. deploy/metrics.md lists all.
import { Registry, collectDefaultMetrics } from './prometheus.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import { isBranchEvent } from '../reports/branch-events.ts';
import type { ReportedEvent } from '../reports/events.ts';
import { isMoveFailure } from '../model/close-reason.ts';
import { isMoveEvent } from '../reports/move-events.ts';
import { createBranchMetrics, type BranchMetrics } from './branch-metrics.ts';
import { CLUSTER_METRICS } from './cluster-metrics.ts';
import { createEventMetrics, type EventMetrics } from './event-metrics.ts';
import { familiesIn } from './families.ts';
import { HARDLY_EVER_MS, registerEventLoopLag } from './event-loop-lag.ts';
import { MEMBER_METRICS, membersOf } from './member-metrics.ts';
import { createMoveMetrics, type MoveMetrics } from './move-metrics.ts';
import { POOL_METRICS } from './pool-metrics.ts';
import { PROCESS_METRICS } from './process-metrics.ts';
import { unixSeconds, type Scrape } from './scrape.ts';
import { SESSION_METRICS } from './session-metrics.ts';

const SUMS_OF_PROM_CLIENT = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

export interface MetricsOptions {
  readonly version: string;
  /** `v24.12.0` */
  readonly nodeVersion: string;
  /** The pools of the configuration; `learn` adds those of a later one. */
  readonly pools: readonly PoolName[];
  readonly now: () => Instant;
  /** Called once per scrape. */
  readonly scrape: () => Scrape;
}

export interface Metrics {
  readonly count: (event: ReportedEvent) => void;
  readonly learn: EventMetrics['learn'];
  readonly contentType: string;
  /** The current exposition. */
  readonly text: () => Promise<string>;
}

export function createMetrics({ version, nodeVersion, pools, now, scrape }: MetricsOptions): Metrics {
  const registry = new Registry();
  const families = familiesIn(registry);
  const events = createEventMetrics({ registry, now });
  events.learn(pools);
  const updates = [...CLUSTER_METRICS, ...MEMBER_METRICS, ...POOL_METRICS, ...SESSION_METRICS, ...PROCESS_METRICS].map(
    (create) => create(families),
  );
  const versions = { version, node_version: nodeVersion };
  families
    .gauge('pointsman_build_info', 'Always 1. The labels name the version and the Node version.', [
      'version',
      'node_version',
    ])
    .set(versions, 1);
  const lastDiscovery = families.gauge(
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
      const read = scrape();
      const { scope } = read.snapshot;
      registry.setDefaultLabels(scope === undefined ? {} : { scope });
      for (const update of updates) update(read);
      events.retain(membersOf(read.table));
      const discoveredAt = unixSeconds(read, events.discoveredAt());
      if (discoveredAt !== undefined) lastDiscovery.set(discoveredAt);
      if (read.branches !== undefined) ofBranches();
      branches?.update(read);
      if (read.hasMoves) ofMoves();
      moves?.update(read);
      return registry.metrics();
    },
  };
}
