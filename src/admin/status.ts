// The status document: what one routing table, the snapshot it was decided from and the counts of the same moment say, for a
// person or a script to read. Pure. Ages are seconds; null stands for what is not known.
import { describeRoute, describeStanding } from '../core/describe.ts';
import type { PoolCounts, WorkerStatus } from '../core/counts.ts';
import type { Instant } from '../core/instant.ts';
import { addressText } from '../core/member.ts';
import type { Address, MemberName } from '../core/member.ts';
import type { PoolName, PoolPolicy } from '../core/policy.ts';
import type { Route, RoutingTable, Standing, Target } from '../core/routing-table.ts';
import type { MemberRecord, Snapshot } from '../core/snapshot.ts';

export interface StatusDocument {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  /** Why not. */
  readonly not_ready_because?: string;
  readonly cluster: {
    readonly scope: string | null;
    readonly system_identifier: string | null;
    /** The highest on which a member was ever positive as primary. */
    readonly timeline: number | null;
    /** True once every member first known was asked. */
    readonly first_round_complete: boolean;
    /** By the operator; members that are not known at the moment too. Forgotten when this process ends. */
    readonly drained: readonly MemberName[];
    /** By the newest document. */
    readonly scheduled_switchover: { readonly in_seconds: number; readonly from: MemberName } | null;
    /** The names and directories that contact points come from, as they were last asked; absent where there are none. */
    readonly contact_sources?: readonly ContactSourceDocument[];
  };
  readonly members: readonly MemberStatusDocument[];
  readonly pools: readonly PoolStatusDocument[];
  /** Absent where one process does everything. */
  readonly workers?: readonly WorkerDocument[];
}

interface WorkerDocument {
  /** Its place: the one that replaces it has the same. */
  readonly worker: number;
  /** Null while it is being replaced. */
  readonly pid: number | null;
  /** It accepts clients. */
  readonly ready: boolean;
  readonly uptime_seconds: number | null;
  readonly restarts: number;
  readonly sessions: number;
  readonly cpu_seconds: number;
  readonly resident_memory_bytes: number;
}

interface ContactSourceDocument {
  readonly source: string;
  readonly contact_points: readonly string[];
  /** Present while it gives nothing new; without a time it never gave anything. */
  readonly failing?: { readonly for_seconds?: number; readonly why: string };
}

interface MemberStatusDocument {
  readonly name: MemberName;
  readonly api: string;
  readonly postgres: string | null;
  readonly origin: 'configured' | 'discovered';
  /** What its newest body said. */
  readonly role: string | null;
  readonly state: string | null;
  readonly timeline: number | null;
  readonly paused: boolean;
  readonly cluster_unlocked: boolean;
  readonly failsafe: boolean;
  readonly pending_restart: boolean;
  readonly last_answer_age_seconds: number | null;
  /** Present while its newest probe brought no answer. */
  readonly failing?: { readonly for_seconds: number; readonly outcome: string };
  /** Present while the operator has drained it. */
  readonly drained?: { readonly for_seconds: number };
  readonly pools: Readonly<Record<PoolName, StandingDocument>>;
}

interface StandingDocument {
  readonly standing: Standing['kind'];
  /** Of `leave`: what `on_leave` goes by. */
  readonly cause?: string;
  /** The sentence that clients are told too. */
  readonly why: string;
}

interface PoolStatusDocument {
  readonly name: PoolName;
  readonly check: string;
  readonly exclusive: boolean;
  readonly route: RouteDocument;
  /** The route in the log's words. */
  readonly why: string;
  readonly sessions: SessionsDocument | null;
}

interface TargetDocument {
  readonly name: MemberName;
  readonly address: string;
  /** Its part beside the others', by its tag; absent: 1. */
  readonly weight?: number;
  /** Present: it is not in our zone. */
  readonly far?: true;
}

interface Degradation {
  readonly max_sessions: number;
  readonly for_seconds?: number;
}

type RouteDocument =
  | {
      readonly kind: 'open';
      readonly members: readonly TargetDocument[];
      /** The pool whose members these are, while they are not the pool's own. */
      readonly fallback: ({ readonly pool: PoolName } & Degradation) | null;
      /** Present while every member lags, and these are used all the same. */
      readonly lagging?: Degradation;
    }
  | { readonly kind: 'hold'; readonly cause: string }
  | { readonly kind: 'closed' };

interface SessionsDocument {
  readonly by_state: PoolCounts['states'];
  readonly by_member: Readonly<Record<MemberName, number>>;
  readonly by_fallback: number;
  /** Members in their slow start, with the part of their weight that they have by now. */
  readonly slow_start?: Readonly<Record<MemberName, number>>;
  readonly accepted: number;
  readonly closed: number;
  readonly to_backend_bytes: number;
  readonly to_client_bytes: number;
}

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly why: string };

export interface StatusInputs {
  readonly version: string;
  readonly startedAt: Instant;
  readonly now: Instant;
  readonly readiness: Readiness;
  readonly pools: readonly PoolPolicy[];
  /** The current table and the snapshot it was decided from, taken in one step. */
  readonly table: RoutingTable;
  readonly snapshot: Snapshot;
  readonly counts: ReadonlyMap<PoolName, PoolCounts>;
  readonly sources?: readonly ContactSource[];
  /** None where this process serves. */
  readonly workers?: readonly WorkerStatus[];
}

export interface ContactSource {
  readonly name: string;
  readonly contactPoints: readonly Address[];
  readonly failing: { readonly why: string; readonly since: Instant | undefined } | undefined;
}

export function buildStatus(inputs: StatusInputs): StatusDocument {
  const { version, startedAt, now, readiness, pools, snapshot, table, counts, sources = [], workers = [] } = inputs;
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
      ...(sources.length === 0 ? {} : { contact_sources: sources.map((source) => contactSource(source, now)) }),
    },
    members: [...snapshot.members.values()].map((record) =>
      memberStatus(record, snapshot.drained.get(record.member.name), table, now),
    ),
    pools: pools.map((pool) => poolStatus(pool, table, counts.get(pool.name), now)),
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

/** One whose time has passed is no longer worth showing, though nobody has taken it back yet. */
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
  const cause = standing.kind === 'leave' ? { cause: standing.cause } : {};
  return { standing: standing.kind, ...cause, why: describeStanding(standing, now) };
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
    sessions: counts === undefined ? null : sessionsDocument(counts),
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

function sessionsDocument(counts: PoolCounts): SessionsDocument {
  const { ramping = new Map() } = counts;
  return {
    by_state: counts.states,
    by_member: Object.fromEntries(counts.members),
    by_fallback: counts.fallbackSessions,
    ...(ramping.size === 0 ? {} : { slow_start: Object.fromEntries(ramping) }),
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
