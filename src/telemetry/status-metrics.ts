// Gauges and totals that are read at the scrape, all from one routing table, its snapshot and one set of counts, so
// that they agree with each other and with the routing (G21).
import type { Registry } from 'prom-client';
import type { RefusalKind, Snapshot } from '../core/snapshot.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { CertificateStatus, ClientCounts, PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { BranchListStatus } from '../model/branch.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import { createClusterMetrics } from './cluster-metrics.ts';
import { familiesIn, type Families } from './families.ts';
import { createMemberMetrics } from './member-metrics.ts';
import { createPoolMetrics } from './pool-metrics.ts';
import { createSessionMetrics, type LimitsInEffect } from './session-metrics.ts';

/** Where the values of a scrape come from. Each is called once per scrape. */
export interface StatusSource {
  readonly routingTable: () => RoutingTable;
  /** The table's. */
  readonly snapshot: () => Snapshot;
  readonly history: Pick<ClusterHistory, 'routes' | 'primary' | 'primaryChanges'>;
  readonly now: () => Instant;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  readonly counts: () => ReadonlyMap<PoolName, PoolCounts>;
  readonly clients: () => ClientCounts;
  /** The pools of the configuration in effect. */
  readonly pools: () => readonly PoolPolicy[];
  readonly limits: () => LimitsInEffect;
  /** Open streams of GET /events. */
  readonly eventStreams: () => number;
  /** Why primaries are refused, while there is no other primary. */
  readonly refusals: () => readonly RefusalKind[];
  /** Presented to clients; undefined in passthrough mode. */
  readonly certificate: () => CertificateStatus | undefined;
  /** Worker processes; empty if this process serves clients itself. */
  readonly workers: () => readonly WorkerStatus[];
  /** When the configuration in effect was loaded. Milliseconds since 1970. */
  readonly configLoadedAt: () => number;
  /** Sessions may move. */
  readonly hasMoves: () => boolean;
  /** The list of branches; undefined if none are configured. */
  readonly branches: () => BranchListStatus | undefined;
  /** Log lines lost since the start. */
  readonly droppedLogLines: () => number;
}

/** Returns a function that updates every value and returns the known members. */
export function createStatusMetrics(registry: Registry, source: StatusSource): () => ReadonlySet<MemberName> {
  const families = familiesIn(registry);
  const [setCluster, setMembers] = [createClusterMetrics(families), createMemberMetrics(families)];
  const [setPools, setSessions] = [createPoolMetrics(families), createSessionMetrics(families)];
  const [setTls, setWorkers] = [createTlsMetrics(families), createWorkerMetrics(families)];
  const setProcess = createProcessMetrics(families);
  return () => {
    const [table, snapshot, now] = [source.routingTable(), source.snapshot(), source.now()];
    const { history } = source;
    const atScrape = { table, snapshot, now, history, unixSeconds: (at: Instant) => unixSeconds(source, at) };
    registry.setDefaultLabels(snapshot.scope === undefined ? {} : { scope: snapshot.scope });
    setCluster({ ...atScrape, isComplete: table.complete, refusals: source.refusals() });
    setPools(atScrape);
    setSessions({
      now,
      hasMoves: source.hasMoves(),
      counts: source.counts(),
      clients: source.clients(),
      eventStreams: source.eventStreams(),
      limits: source.limits(),
      pools: source.pools(),
    });
    setTls(source.certificate());
    setWorkers(source.workers());
    setProcess(source);
    return setMembers(atScrape);
  };
}

/** Unix time of an instant. */
export function unixSeconds({ now, wallClock }: Pick<StatusSource, 'now' | 'wallClock'>, at: Instant): number {
  return Math.round(wallClock() - (now() - at)) / 1000;
}

/** Absent in passthrough mode. */
function createTlsMetrics({ gauge }: Families): (certificate: CertificateStatus | undefined) => void {
  const expiry = gauge(
    'pointsman_tls_certificate_expiry_timestamp_seconds',
    'Expiry of the TLS certificate presented to clients (Unix time); absent in passthrough mode.',
    ['file'],
  );
  const isCurrent = gauge(
    'pointsman_tls_certificate_current',
    '1 if the TLS certificate in use is that of its files, 0 if the files cannot be used.',
    ['file'],
  );
  return (certificate) => {
    for (const metric of [expiry, isCurrent]) metric.reset();
    if (certificate === undefined) return;
    const { file } = certificate;
    expiry.set({ file }, certificate.expiresAt / 1000);
    isCurrent.set({ file }, certificate.isCurrent ? 1 : 0);
  };
}

type ProcessSource = Pick<StatusSource, 'configLoadedAt' | 'droppedLogLines'>;

function createProcessMetrics({ gauge, counter }: Families): (source: ProcessSource) => void {
  const loadedAt = gauge(
    'pointsman_config_last_reload_success_timestamp_seconds',
    'Time at which the configuration in effect was loaded, at the start or by a reload (Unix time).',
  );
  const droppedLogLines = counter(
    'pointsman_log_lines_dropped_total',
    'Log lines lost, because the reader was too slow or had ended, or the disk was full.',
  );
  return (source) => {
    loadedAt.set(source.configLoadedAt() / 1000);
    droppedLogLines.reset();
    droppedLogLines.inc(source.droppedLogLines());
  };
}

/** Returns a function that updates the values. */
function createWorkerMetrics({ counter, gauge }: Families): (workers: readonly WorkerStatus[]) => void {
  const labels = ['worker'] as const;
  const count = gauge(
    'pointsman_workers',
    'Worker processes that accept clients; 0 if the main process serves them itself.',
  );
  const restarts = counter('pointsman_worker_restarts_total', 'Times a worker was replaced.', labels);
  const sessions = gauge('pointsman_worker_sessions', 'Current client connections, by worker.', labels);
  const cpu = counter(
    'pointsman_worker_cpu_seconds_total',
    'CPU time of the worker, user and system; starts again at 0 when it is replaced.',
    labels,
  );
  const memory = gauge('pointsman_worker_resident_memory_bytes', 'Resident memory of the worker.', labels);
  return (workers) => {
    count.set(workers.filter(({ isReady }) => isReady).length);
    for (const total of [restarts, cpu]) total.reset();
    for (const { number, ...status } of workers) {
      const worker = String(number);
      restarts.inc({ worker }, status.restarts);
      sessions.set({ worker }, status.sessions);
      cpu.inc({ worker }, status.cpuSeconds);
      memory.set({ worker }, status.residentBytes);
    }
  };
}
