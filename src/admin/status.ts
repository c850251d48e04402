// Builds the status document from one routing table, its snapshot, and the counts of the same moment. Pure.
import { memberFacts, type MemberDocumentsOptions } from './status-of-members.ts';
import { describeRefusal, durationText, refusalEnds } from '../core/describe.ts';
import type { PoolCounts, WorkerStatus } from '../reports/counts.ts';
import { BRANCHES_POOL, type BranchListStatus } from '../model/branch.ts';
import type { Instant } from '../model/instant.ts';
import type { ContactSource } from '../model/cluster-config.ts';
import { addressText } from '../model/member.ts';
import type { MovesPolicy } from '../model/moves.ts';
import type { ClientPolicy, HoldPolicy, ListenerPolicy, PoolName } from '../model/policy.ts';
import type { RefusedPrimary } from '../core/refused-primary.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { Interruption } from '../history/route-history.ts';
import type { StatusDocument, WorkerDocument } from '../documents/status-document.ts';
import type { RecentEvent } from '../documents/events-document.ts';
import { noticesOf } from './notices.ts';
import { placed } from './places.ts';
import { branchListDocument } from './branch-documents.ts';
import { poolStatus, sessionsDocument } from './status-of-pools.ts';
import { isoTime, seconds } from './status-units.ts';

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly why: string };

export interface StatusDocumentOptions extends MemberDocumentsOptions {
  readonly version: string;
  readonly startedAt: Instant;
  /** The same moment. Milliseconds since 1970. */
  readonly wallClock: number;
  readonly readiness: Readiness;
  readonly listeners?: readonly ListenerPolicy[];
  readonly client: ClientPolicy;
  readonly hold: HoldPolicy;
  /** Undefined: no session moves. */
  readonly moves?: Pick<MovesPolicy, 'parkTimeoutMs'> | undefined;
  readonly config: StatusDocument['config'];
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
  readonly history: Pick<ClusterHistory, 'routes' | 'primary' | 'lastInterruption'>;
  /** The incident of a time. Milliseconds since 1970; `to` undefined: it goes on. */
  readonly incidentAt?: (from: number, to: number | undefined) => string | undefined;
  readonly refused?: readonly RefusedPrimary[];
  readonly sources?: readonly ContactSource[];
  /** Empty if this process serves clients itself. */
  readonly workers?: readonly WorkerStatus[];
  /** Undefined: none are configured. */
  readonly branches?: BranchListStatus | undefined;
  /** Undefined if the limit is unknown. */
  readonly openFiles?: OpenFilesStatus | undefined;
  readonly recentEvents?: readonly RecentEvent[];
}

export interface OpenFilesStatus {
  readonly limit: number;
  readonly inUse: number;
  readonly mostSessions: number;
}

export function buildStatus(options: StatusDocumentOptions): StatusDocument {
  const { version, startedAt, now, wallClock, readiness, pools, zone, snapshot, table, counts } = options;
  const { listeners = [], workers = [], handshakes = new Map(), openFiles, recentEvents = [] } = options;
  const poolStatuses = pools.map((pool) => ({
    ...poolStatus(pool, table, counts.get(pool.name), now, listeners),
    route_since: isoTime(options.history.routes.since(pool.name)?.wallClock ?? wallClock - (now - startedAt)),
  }));
  const facts = {
    version,
    time: isoTime(wallClock),
    started_at: isoTime(wallClock - (now - startedAt)),
    uptime_seconds: seconds(now - startedAt),
    ready: readiness.ready,
    ...(readiness.ready ? {} : { not_ready_because: readiness.why }),
    config: options.config,
    cluster: clusterDocument(options),
    members: memberFacts({ snapshot, table, pools, zone, now, handshakes }).map((member) =>
      placed(member, poolStatuses),
    ),
    refused_members: snapshot.refused.map(({ name, reason, why }) => ({ name, reason, why })),
    pools: poolStatuses,
    ...branchesOf(options),
    limits: limits(options),
    ...(openFiles && {
      open_files: { limit: openFiles.limit, in_use: openFiles.inUse, most_sessions: openFiles.mostSessions },
    }),
    ...(workers.length > 0 && { workers: workers.map((worker) => workerDocument(worker, now)) }),
    recent_events: recentEvents,
  };
  return { ...facts, notices: noticesOf(facts) };
}

function branchesOf({ branches, counts, now, wallClock }: StatusDocumentOptions): Pick<StatusDocument, 'branches'> {
  if (branches === undefined) return {};
  const sessions = counts.get(BRANCHES_POOL);
  return {
    branches: {
      ...branchListDocument(branches, { now, wallClock }),
      branches: branches.branches,
      sessions: sessions === undefined ? null : sessionsDocument(sessions, now),
    },
  };
}

function clusterDocument(options: StatusDocumentOptions): StatusDocument['cluster'] {
  const { snapshot, table, now, refused = [], sources = [] } = options;
  const { handover, accepted, switchover } = snapshot;
  return {
    scope: snapshot.scope ?? null,
    system_identifier: snapshot.systemIdentifier ?? null,
    timeline: snapshot.highestTimeline ?? null,
    primary: primaryOf(options),
    last_interruption: lastInterruption(options),
    first_round_complete: table.complete,
    drained: [...snapshot.drained.keys()],
    // A switchover whose time has passed is none.
    scheduled_switchover:
      switchover === undefined || switchover.at < now
        ? null
        : { in_seconds: seconds(switchover.at - now), from: switchover.leader },
    ...(handover && {
      handover: {
        operation: handover.operation,
        member: handover.member,
        phase: handover.phase,
        for_seconds: seconds(now - handover.since),
      },
    }),
    ...(refused.length > 0 && {
      refused_primaries: refused.map((one) => ({
        member: one.member,
        refused_for: one.kind,
        shown: one.shown,
        expected: one.expected,
        why: describeRefusal(one),
        for_seconds: seconds(now - one.since),
        ends_by: refusalEnds(one, now),
      })),
    }),
    ...(accepted && {
      accepted_primary: {
        member: accepted.member,
        refused_for: accepted.kind,
        with: accepted.detail,
        by: accepted.by,
        seconds_ago: seconds(now - accepted.at),
      },
    }),
    ...(sources.length > 0 && {
      contact_sources: sources.map(({ name, contactPoints, failing }) => ({
        source: name,
        contact_points: contactPoints.map(addressText),
        ...(failing && {
          failing: {
            ...(failing.since !== undefined && { for_seconds: seconds(now - failing.since) }),
            why: failing.why,
          },
        }),
      })),
    }),
  };
}

function primaryOf({ history, snapshot }: StatusDocumentOptions): StatusDocument['cluster']['primary'] {
  const primary = history.primary();
  if (primary === undefined) return null;
  const { member, since } = primary;
  const timeline = snapshot.members.get(member)?.status?.timeline ?? null;
  return { member, since: isoTime(since.wallClock), timeline };
}

function lastInterruption({
  history,
  incidentAt,
  now,
}: StatusDocumentOptions): StatusDocument['cluster']['last_interruption'] {
  const last = history.lastInterruption();
  if (last === undefined) return null;
  const { pool, from, to } = last;
  const lastedMs = (to?.at ?? now) - from.at;
  return {
    pool,
    from: isoTime(from.wallClock),
    to: to === undefined ? null : isoTime(to.wallClock),
    seconds: seconds(lastedMs),
    incident_id: incidentAt?.(from.wallClock, to?.wallClock) ?? null,
    text: interruptionText(last, lastedMs),
  };
}

function interruptionText({ pool, to, before, after }: Interruption, lastedMs: number): string {
  const sentence = `pool ${pool} ${to === undefined ? 'has had' : 'had'} no route for ${durationText(lastedMs)}`;
  if (to === undefined) return `${sentence}; ${before} served it before`;
  return before === after ? `${sentence}; ${after} serves it again` : `${sentence}; ${before} before, ${after} after`;
}

function limits({ client, hold, moves, openFiles }: StatusDocumentOptions): StatusDocument['limits'] {
  return {
    max_sessions: openFiles?.mostSessions ?? client.maxSessions,
    max_sessions_per_address: client.maxSessionsPerAddress ?? null,
    max_handshakes: client.maxHandshakes ?? null,
    max_waiting_clients: hold.maxSessions,
    client_wait_seconds: seconds(hold.clientTimeoutMs),
    park_seconds: moves === undefined ? null : seconds(moves.parkTimeoutMs),
    outage_seconds: seconds(hold.outageTimeoutMs),
    max_connects_per_second: hold.maxConnectsPerSecond,
  };
}

function workerDocument({ number, pid, isReady, startedAt, ...status }: WorkerStatus, now: Instant): WorkerDocument {
  return {
    worker: number,
    pid: pid ?? null,
    ready: isReady,
    uptime_seconds: startedAt === undefined ? null : seconds(now - startedAt),
    restarts: status.restarts,
    sessions: status.sessions,
    cpu_seconds: Math.round(status.cpuSeconds * 1000) / 1000,
    resident_memory_bytes: status.residentBytes,
  };
}
