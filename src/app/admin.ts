// Gives the admin server what it shows and operates on.
import type { CoreParts, InForce } from './reload.ts';
import { MOST_SESSIONS, sessionsDocument } from '../admin/endpoints/session-endpoints.ts';
import { branchesListing, type BranchesListing } from '../admin/branch-documents.ts';
import type { BranchesDocument } from '../documents/branches-document.ts';
import type { SessionsDocument } from '../documents/sessions-document.ts';
import type { SwitchoversOptions } from '../admin/endpoints/switchover-endpoints.ts';
import type { OperationLock } from '../admin/operation-lock.ts';
import { LiveStatus } from '../admin/live-status.ts';
import type { RecentEvents } from '../admin/recent-events.ts';
import { createAdmin, type Admin } from '../admin/admin-server.ts';
import { buildStatus, type OpenFilesStatus, type Readiness } from '../admin/status.ts';
import type { Streams } from '../admin/streams.ts';
import type { Token } from '../admin/permission.ts';
import type { PoolReadiness } from '../admin/endpoints/probe-endpoints.ts';
import type { StatusDocument } from '../documents/status-document.ts';
import { readAdminToken } from '../config/files/admin-token.ts';
import { configHash } from '../config/config-hash.ts';
import { describeRoute } from '../core/describe.ts';
import type { Config } from '../config/config.ts';
import type { ListedSetting } from '../config/reference/settings.ts';
import { branchReport } from './branch-report.ts';
import { createConsoleOf, type ConsoleControl } from './console.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { FlightRecorder } from '../incidents/recorder.ts';
import { BRANCHES_POOL } from '../model/branch.ts';
import type { Instant } from '../model/instant.ts';
import { EVENT_NAMES } from '../telemetry/event-names.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { handshakesNow } from './metrics-source.ts';
import { createOperations, type OwnOperationsOptions } from './own-operations.ts';
import { pageDirectory } from './package.ts';
import type { LastHour } from './last-hour.ts';
import { sessionPools } from './session-pools.ts';
import { clusterControl } from './cluster-control.ts';

/** In /status. */
const RECENT_EVENTS = 20;

export interface AdminParts extends CoreParts {
  readonly version: string;
  /** The configuration file, or `environment`. */
  readonly source: string;
  readonly startedAt: Instant;
  readonly log: Log;
  readonly recent: RecentEvents;
  readonly incidents: FlightRecorder;
  readonly past: LastHour;
  readonly history: ClusterHistory;
  readonly metrics: Metrics;
  readonly streams: Streams;
  readonly openFiles: (config: Config) => OpenFilesStatus | undefined;
  readonly isStopping: () => boolean;
  readonly operationLock: OperationLock;
  readonly switchovers: SwitchoversOptions['switchovers'];
  readonly load: OwnOperationsOptions['load'];
  readonly reload: OwnOperationsOptions['reload'];
}

export interface AdminAndConsole {
  readonly admin: Admin;
  readonly console: ConsoleControl;
  readonly liveStatus: LiveStatus;
}

export function createAdminOf(parts: AdminParts): AdminAndConsole {
  const { running, monitor, proxy, metrics, load, reload, log } = parts;
  const readiness = (): Readiness => readinessOf(parts.isStopping(), monitor.table().complete, proxy.trouble());
  const status = (): Promise<StatusDocument> => proxy.gather().then(() => statusOf(parts, readiness()));
  // Without a question to the workers: they report each change within milliseconds.
  const liveStatus = new LiveStatus({
    clock: parts.clock,
    events: parts.recent,
    read: () => statusOf(parts, readiness()),
  });
  const token = (): Promise<Token> => readAdminToken(running.config.admin);
  const admin = createAdmin({
    version: parts.version,
    pageDirectory,
    address: running.config.admin.address,
    allowedHosts: () => running.config.admin.allowedHosts,
    status,
    samples: () => parts.past.samples.document(parts.clock.now(), Date.now()),
    liveStatus,
    readiness,
    pools: () => poolReadiness(parts, readiness()),
    timeline: () => parts.past.spans.document(),
    incidents: parts.incidents,
    configuration: () => configurationOf(running, parts.source),
    metrics: () => proxy.gather().then(() => metrics.text()),
    metricsContentType: metrics.contentType,
    token,
    operationLock: parts.operationLock,
    switchovers: parts.switchovers,
    events: parts.recent,
    streams: parts.streams,
    eventNames: EVENT_NAMES,
    branches: () => branchesOf(parts),
    cluster: () => clusterControl(parts),
    sessions: {
      list: (query) => proxy.sessions(query),
      kill: (session) => proxy.kill(session),
      move: (session, mayAbort) => proxy.move(session, mayAbort),
      pools: () => sessionPools(running.config),
      members: () => [...monitor.snapshot().members.keys()],
      now: () => parts.clock.now(),
    },
    operations: createOperations({ monitor, load, log, reload }),
  });
  const settings = async (): Promise<readonly ListedSetting[]> => {
    const { listedSettings } = await import('../config/reference/settings.ts');
    return listedSettings(running.config);
  };
  const sessions = async (): Promise<SessionsDocument> =>
    sessionsDocument(await proxy.sessions({ limit: MOST_SESSIONS }), parts.clock.now());
  const branches = async (): Promise<BranchesDocument | undefined> => {
    const listing = await branchesOf(parts);
    return listing && { ...listing, branches: [...listing.branches] };
  };
  const sources = { version: parts.version, status, sessions, branches, settings };
  return { admin, console: createConsoleOf({ address: running.config.admin.console, sources, token }), liveStatus };
}

async function branchesOf({ running, proxy, clock }: AdminParts): Promise<BranchesListing | undefined> {
  const { branches } = running;
  if (branches === undefined) return undefined;
  const sessions = await proxy.sessions({ pool: BRANCHES_POOL, limit: Number.MAX_SAFE_INTEGER });
  return branchesListing(branchReport(branches), sessions, { now: clock.now(), wallClock: Date.now() });
}

function statusOf(parts: AdminParts, readiness: Readiness): StatusDocument {
  const { version, startedAt, clock, running, monitor, proxy, openFiles } = parts;
  return buildStatus({
    version,
    startedAt,
    now: clock.now(),
    wallClock: Date.now(),
    readiness,
    pools: running.config.pools,
    listeners: running.config.listeners,
    zone: running.config.zone,
    client: running.config.client,
    hold: running.config.hold,
    moves: running.config.moves,
    config: configStatus(running, parts.source),
    table: monitor.table(),
    snapshot: monitor.snapshot(),
    history: parts.history,
    handshakes: handshakesNow(running.config, parts.history),
    incidentAt: parts.past.incidentAt,
    refused: monitor.refusedPrimaries(),
    counts: proxy.counts(),
    branches: running.branches?.status(),
    sources: running.access.sources(),
    workers: proxy.workers(),
    openFiles: openFiles(running.config),
    recentEvents: parts.recent.newest(RECENT_EVENTS),
  });
}

function configStatus({ config, loadedAt }: InForce, source: string): StatusDocument['config'] {
  return { source, hash: configHash(config), loaded_at: new Date(loadedAt).toISOString() };
}

/** Loads the descriptions of the keys, which nothing else in this process needs. */
async function configurationOf(running: InForce, source: string): Promise<object> {
  const { configDocument } = await import('../config/reference/settings.ts');
  return { ...configStatus(running, source), ...configDocument(running.config) };
}

function poolReadiness({ running, monitor }: AdminParts, own: Readiness): readonly PoolReadiness[] {
  const { pools } = monitor.table();
  return running.config.pools.map(({ name, exclusive }) => {
    const route = pools.get(name)?.route ?? { kind: 'closed' };
    const readiness: Readiness = route.kind === 'open' ? { ready: true } : { ready: false, why: describeRoute(route) };
    return { name, isExclusive: exclusive, readiness: own.ready ? readiness : own };
  });
}

function readinessOf(isStopping: boolean, isComplete: boolean, trouble: string | undefined): Readiness {
  if (isStopping) return { ready: false, why: 'shutting down' };
  if (!isComplete) return { ready: false, why: 'the first round of probes is not complete' };
  return trouble === undefined ? { ready: true } : { ready: false, why: trouble };
}
