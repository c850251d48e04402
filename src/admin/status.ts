// Builds the status document from one routing table, its snapshot, and the counts of the same moment. Pure.
import { describeRefusal, describeRoute, describeStanding, exclusionCause, refusalEnds } from '../core/describe.ts';
import type { PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import type { Address } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { RefusedPrimary } from '../core/refused-primary.ts';
import type { Route, RoutingTable, Target } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import type { Acceptance, MemberRecord, Snapshot } from '../core/snapshot.ts';
import type {
  AcceptedPrimaryDocument,
  ContactSourceDocument,
  Degradation,
  MemberStatusDocument,
  PoolStatusDocument,
  RefusedPrimaryDocument,
  RouteDocument,
  SessionsDocument,
  StandingDocument,
  StatusDocument,
  TargetDocument,
  WorkerDocument,
} from './status-document.ts';

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly why: string };

export interface StatusInputs {
  readonly version: string;
  readonly startedAt: Instant;
  readonly now: Instant;
  readonly readiness: Readiness;
  readonly pools: readonly PoolPolicy[];
  /** The current table and its snapshot, taken synchronously. */
  readonly table: RoutingTable;
  readonly snapshot: Snapshot;
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
  readonly refused?: readonly RefusedPrimary[];
  readonly sources?: readonly ContactSource[];
  /** Empty if this process serves clients itself. */
  readonly workers?: readonly WorkerStatus[];
  /** Undefined if the limit is unknown. */
  readonly openFiles?: OpenFilesStatus | undefined;
}

export interface OpenFilesStatus {
  readonly limit: number;
  readonly inUse: number;
  readonly mostSessions: number;
}

export interface ContactSource {
  readonly name: string;
  readonly contactPoints: readonly Address[];
  readonly failing: { readonly why: string; readonly since: Instant | undefined } | undefined;
}

export function buildStatus(inputs: StatusInputs): StatusDocument {
  const { version, startedAt, now, readiness, pools, snapshot, table, counts } = inputs;
  const { refused = [], sources = [], workers = [], openFiles } = inputs;
  return {
    version,
    uptime_seconds: seconds(now - startedAt),
    ready: readiness.ready,
    ...(readiness.ready ? {} : { not_ready_because: readiness.why }),
    cluster: {
      scope: snapshot.scope ?? null,
      system_identifier: snapshot.systemIdentifier ?? null,
      timeline: snapshot.highestTimeline ?? null,
      first_round_complete: table.complete,
      drained: [...snapshot.drained.keys()],
      scheduled_switchover: scheduledSwitchover(snapshot, now),
      ...(refused.length === 0 ? {} : { refused_primaries: refused.map((one) => refusedPrimary(one, now)) }),
      ...(snapshot.accepted === undefined ? {} : { accepted_primary: acceptedPrimary(snapshot.accepted, now) }),
      ...(sources.length === 0 ? {} : { contact_sources: sources.map((source) => contactSource(source, now)) }),
    },
    members: [...snapshot.members.values()].map((record) =>
      memberStatus(record, snapshot.drained.get(record.member.name), table, now),
    ),
    refused_members: snapshot.refused.map(({ name, reason, why }) => ({ name, reason, why })),
    pools: pools.map((pool) => poolStatus(pool, table, counts.get(pool.name), now)),
    ...(openFiles === undefined
      ? {}
      : {
          open_files: { limit: openFiles.limit, in_use: openFiles.inUse, most_sessions: openFiles.mostSessions },
        }),
    ...(workers.length === 0 ? {} : { workers: workers.map((worker) => workerDocument(worker, now)) }),
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

function contactSource({ name, contactPoints, failing }: ContactSource, now: Instant): ContactSourceDocument {
  const known = { source: name, contact_points: contactPoints.map(addressText) };
  if (failing === undefined) return known;
  const { why, since } = failing;
  return { ...known, failing: { ...(since === undefined ? {} : { for_seconds: seconds(now - since) }), why } };
}

function refusedPrimary(refused: RefusedPrimary, now: Instant): RefusedPrimaryDocument {
  const { member, kind, shown, expected, since } = refused;
  return {
    member,
    refused_for: kind,
    shown,
    expected,
    why: describeRefusal(refused),
    for_seconds: seconds(now - since),
    ends_by: refusalEnds(refused, now),
  };
}

function acceptedPrimary({ member, kind, detail, by, at }: Acceptance, now: Instant): AcceptedPrimaryDocument {
  return { member, refused_for: kind, with: detail, by, seconds_ago: seconds(now - at) };
}

/** Null for a switchover whose time has passed. */
function scheduledSwitchover(
  { switchover }: Snapshot,
  now: Instant,
): StatusDocument['cluster']['scheduled_switchover'] {
  if (switchover === undefined || switchover.at < now) return null;
  return { in_seconds: seconds(switchover.at - now), from: switchover.leader };
}

function memberStatus(
  record: MemberRecord,
  drainedAt: Instant | undefined,
  table: RoutingTable,
  now: Instant,
): MemberStatusDocument {
  const { member, status, answeredAt, failure } = record;
  const standings = [...table.pools].flatMap(([pool, decision]) => {
    const standing = decision.standings.get(member.name);
    return standing === undefined ? [] : [[pool, standingDocument(standing, now)] as const];
  });
  return {
    name: member.name,
    api: member.api.url,
    postgres: member.postgres === undefined ? null : addressText(member.postgres),
    origin: member.origin,
    role: status?.role ?? null,
    state: status?.state ?? null,
    timeline: status?.timeline ?? null,
    paused: status?.pause ?? false,
    cluster_unlocked: status?.clusterUnlocked ?? false,
    failsafe: status?.failsafe ?? false,
    pending_restart: status?.pendingRestart ?? false,
    last_answer_age_seconds: answeredAt === undefined ? null : seconds(now - answeredAt),
    ...(failure === undefined ? {} : { failing: failing(failure, now) }),
    ...(drainedAt === undefined ? {} : { drained: { for_seconds: seconds(now - drainedAt) } }),
    pools: Object.fromEntries(standings),
  };
}

function failing(
  { since, outcome }: NonNullable<MemberRecord['failure']>,
  now: Instant,
): NonNullable<MemberStatusDocument['failing']> {
  const text = outcome.kind === 'failed' ? outcome.detail : outcome.kind;
  return { for_seconds: seconds(now - since), outcome: text };
}

function standingDocument(standing: Standing, now: Instant): StandingDocument {
  const cause = exclusionCause(standing);
  return {
    standing: standing.kind,
    ...(cause === undefined ? {} : { cause }),
    why: describeStanding(standing, now),
  };
}

function poolStatus(
  pool: PoolPolicy,
  table: RoutingTable,
  counts: PoolCounts | undefined,
  now: Instant,
): PoolStatusDocument {
  const route = table.pools.get(pool.name)?.route ?? { kind: 'closed' };
  const since = counts?.degradedSince;
  return {
    name: pool.name,
    check: pool.check.text,
    exclusive: pool.exclusive,
    route: routeDocument(route, since === undefined ? {} : { for_seconds: seconds(now - since) }),
    why: describeRoute(route),
    sessions: counts === undefined ? null : sessionsDocument(counts, now),
  };
}

function routeDocument(route: Route, age: Pick<Degradation, 'for_seconds'>): RouteDocument {
  switch (route.kind) {
    case 'open': {
      const { targets, fallback, lagging } = route;
      const members = targets.map(targetDocument);
      const lent = fallback === undefined ? null : { pool: fallback.pool, max_sessions: fallback.maxSessions, ...age };
      const late = lagging === undefined ? {} : { lagging: { max_sessions: lagging.maxSessions, ...age } };
      return { kind: 'open', members, fallback: lent, ...late };
    }
    case 'hold':
      return { kind: 'hold', cause: route.cause };
    case 'closed':
      return { kind: 'closed' };
  }
}

function targetDocument({ member, address, weight, isFar }: Target): TargetDocument {
  const part = weight === undefined ? {} : { weight };
  return { name: member, address: addressText(address), ...part, ...(isFar ? { far: isFar } : {}) };
}

function sessionsDocument(counts: PoolCounts, now: Instant): SessionsDocument {
  const { ramping = new Map(), heldSince } = counts;
  return {
    by_state: counts.states,
    by_member: Object.fromEntries(counts.members),
    by_fallback: counts.fallbackSessions,
    ...(ramping.size === 0 ? {} : { slow_start: Object.fromEntries(ramping) }),
    ...(heldSince === undefined ? {} : { longest_wait_seconds: seconds(now - heldSince) }),
    accepted: counts.accepted,
    closed: counts.closed,
    to_backend_bytes: counts.toBackendBytes,
    to_client_bytes: counts.toClientBytes,
  };
}

/** To the millisecond, never negative. */
function seconds(ms: number): number {
  return Math.round(Math.max(0, ms)) / 1000;
}
