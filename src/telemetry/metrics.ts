// The metrics of one program, on their own registry. Names follow the conventions of Prometheus: base units, `_total`
// for counters, Unix time for points in time. Process metrics keep prom-client's names. deploy/metrics.md lists all.
import { Registry, collectDefaultMetrics } from './prometheus.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import { BRANCH_EVENT_CLASSES } from '../reports/branch-events.ts';
import type { ReportedEvent } from '../reports/events.ts';
import { isMoveFailure } from '../model/close-reason.ts';
import { MOVE_EVENT_CLASSES } from '../reports/move-events.ts';
import { POSITION_EVENT_CLASSES } from '../reports/position-events.ts';
import { BRANCH_LIST_METRICS, BRANCH_METRICS } from './branch-metrics.ts';
import { CLUSTER_METRICS } from './cluster-metrics.ts';
import { EVENT_METRICS } from './event-metrics.ts';
import { createEventTotals, type EventMetric, type EventTotals } from './event-totals.ts';
import { familyIn } from './families.ts';
import { HARDLY_EVER_MS, registerEventLoopLag } from './event-loop-lag.ts';
import { LATENCY_METRICS } from './latency-metrics.ts';
import { MEMBER_METRICS, membersOf } from './member-metrics.ts';
import { MOVE_METRICS, PARKED_METRICS } from './move-metrics.ts';
import { CAUSAL_METRICS } from './causal-metrics.ts';
import { POOL_METRICS } from './pool-metrics.ts';
import { POSITION_METRICS } from './position-metrics.ts';
import { PROCESS_METRICS } from './process-metrics.ts';
import { unixSeconds, type Scrape, type ScrapedMetric } from './scrape.ts';
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

export interface Metrics extends Pick<EventTotals, 'count' | 'learn'> {
  readonly contentType: string;
  /** The current exposition. */
  readonly text: () => Promise<string>;
}

const AT_SCRAPE = [
  ...CLUSTER_METRICS,
  ...MEMBER_METRICS,
  ...POOL_METRICS,
  ...CAUSAL_METRICS,
  ...LATENCY_METRICS,
  ...SESSION_METRICS,
  ...PROCESS_METRICS,
];

export function createMetrics({ version, nodeVersion, pools, now, scrape }: MetricsOptions): Metrics {
  const registry = new Registry();
  const all = createGroup(registry, EVENT_METRICS, AT_SCRAPE);
  all.learn(pools);
  const versions = { version, node_version: nodeVersion };
  const versionLabels = ['version', 'node_version'] as const;
  familyIn(
    registry,
    'pointsman_build_info',
    'Always 1. The labels name the version and the Node version.',
    versionLabels,
  ).put(versions, 1);
  const lastDiscovery = familyIn(
    registry,
    'pointsman_discovery_last_success_timestamp_seconds',
    'Last successful read of the member list (Unix time); absent before the first.',
    [],
  );
  lastDiscovery.remove({});
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HARDLY_EVER_MS });
  registerEventLoopLag(registry);
  // Gauges must not end in _total, and each is only the sum of its series by type.
  for (const name of SUMS_OF_PROM_CLIENT) registry.removeSingleMetric(name);
  let discoveredAt: Instant | undefined;
  let branches: MetricGroup | undefined;
  const ofBranches = (): MetricGroup => (branches ??= createGroup(registry, BRANCH_METRICS, BRANCH_LIST_METRICS));
  let moves: MetricGroup | undefined;
  const ofMoves = (): MetricGroup => (moves ??= createGroup(registry, MOVE_METRICS, PARKED_METRICS));
  let positions: MetricGroup | undefined;
  const ofPositions = (): MetricGroup => (positions ??= createGroup(registry, POSITION_METRICS, []));
  const count = (event: ReportedEvent): void => {
    if (event.kind in BRANCH_EVENT_CLASSES) return ofBranches().count(event);
    if (event.kind in MOVE_EVENT_CLASSES) return ofMoves().count(event);
    if (event.kind in POSITION_EVENT_CLASSES) return ofPositions().count(event);
    if (event.kind === 'session_closed' && isMoveFailure(event.reason)) ofMoves().count(event);
    if (event.kind === 'discovery_finished' && event.detail === undefined) discoveredAt = now();
    return all.count(event);
  };
  return {
    count,
    learn: all.learn,
    contentType: registry.contentType,
    text: () => {
      const read = scrape();
      const { scope } = read.snapshot;
      registry.setDefaultLabels(scope === undefined ? {} : { scope });
      all.update(read);
      for (const group of [all, positions]) group?.retain(membersOf(read.table));
      const at = unixSeconds(read, discoveredAt);
      if (at !== undefined) lastDiscovery.put({}, at);
      if (read.branches !== undefined) ofBranches();
      branches?.update(read);
      if (read.hasMoves) ofMoves();
      if (read.hasQuestions) ofPositions();
      moves?.learn(read.pools.map(({ name }) => name));
      moves?.update(read);
      return registry.metrics();
    },
  };
}

interface MetricGroup extends EventTotals {
  /** At the scrape. */
  readonly update: (scrape: Scrape) => void;
}

function createGroup(
  registry: Registry,
  ofEvents: readonly EventMetric[],
  atScrape: readonly ScrapedMetric[],
): MetricGroup {
  const totals = createEventTotals(registry, ofEvents);
  const updates = atScrape.map((create) => create(registry));
  return { ...totals, update: (read) => updates.forEach((update) => update(read)) };
}
