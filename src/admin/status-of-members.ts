// The part of the status document about one member.
import { describeStanding, exclusionCause } from '../core/describe.ts';
import { primaryPositions, recentLags } from '../core/lag.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { MemberRecord, Position, Snapshot } from '../core/snapshot.ts';
import { stalenessMs } from '../core/staleness.ts';
import type { Standing } from '../core/standing.ts';
import { weightAndZoneOf } from '../core/weights-and-zones.ts';
import type { HandshakeRecord, HandshakesByMember } from '../history/member-handshakes.ts';
import type { Instant } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import { memoized } from '../model/once.ts';
import type { PoolPolicy } from '../model/policy.ts';
import type { MemberFacts } from './places.ts';
import type { StandingDocument } from '../documents/member-document.ts';
import { isoTime, seconds } from './status-units.ts';

export interface MemberDocumentsOptions {
  readonly snapshot: Snapshot;
  readonly table: RoutingTable;
  readonly pools: readonly PoolPolicy[];
  /** Our own. */
  readonly zone?: string | undefined;
  readonly now: Instant;
  /** Default: none. */
  readonly handshakes?: HandshakesByMember;
}

/** Made for the first status: it takes 7 ms, a thirtieth of the start. */
const byName = memoized(() => new Intl.Collator('en', { numeric: true }));

/** By name: the order of the member list changes when a member leaves and comes back. */
export function memberFacts(options: MemberDocumentsOptions): readonly MemberFacts[] {
  const primary = primaryPositions(options.snapshot);
  return [...options.snapshot.members.values()]
    .map((record) => factsOf(record, primary, options))
    .toSorted((a, b) => byName().compare(a.name, b.name));
}

function factsOf(
  record: MemberRecord,
  primary: readonly Position[],
  { snapshot, table, pools, zone, now, handshakes }: MemberDocumentsOptions,
): MemberFacts {
  const { member, status, answeredAt, failure } = record;
  const handshake = handshakes?.get(member.name);
  const staleMs = stalenessMs(snapshot, record, primary);
  const drainedAt = snapshot.drained.get(member.name);
  const standings = pools.flatMap((pool) => {
    const standing = table.pools.get(pool.name)?.standings.get(member.name);
    if (standing === undefined) return [];
    return [[pool.name, { ...standingDocument(standing, now), ...shareOf(pool, zone, record) }] as const];
  });
  return {
    name: member.name,
    api: member.api.url,
    postgres: member.postgres === undefined ? null : addressText(member.postgres),
    origin: member.origin,
    role: status?.role ?? null,
    state: status?.state ?? null,
    timeline: status?.timeline ?? null,
    lag_bytes: recentLags(primary, record, 1)[0] ?? null,
    staleness_seconds: staleMs === undefined ? null : seconds(staleMs),
    paused: status?.pause ?? false,
    cluster_unlocked: status?.clusterUnlocked ?? false,
    failsafe: status?.failsafe ?? false,
    pending_restart: status?.pendingRestart ?? false,
    last_answer_age_seconds: answeredAt === undefined ? null : seconds(now - answeredAt),
    ...(failure && {
      failing: {
        for_seconds: seconds(now - failure.since),
        outcome: failure.outcome.kind === 'failed' ? failure.outcome.detail : failure.outcome.kind,
      },
    }),
    ...(drainedAt === undefined ? {} : { drained: { for_seconds: seconds(now - drainedAt) } }),
    ...(handshake && { tls: tlsDocument(handshake, now) }),
    pools: Object.fromEntries(standings),
  };
}

function tlsDocument({ expiresAt, failing }: HandshakeRecord, now: Instant): NonNullable<MemberFacts['tls']> {
  return {
    certificate_expires_at: expiresAt === undefined ? null : isoTime(expiresAt),
    ...(failing && {
      failing: {
        reason: failing.reason,
        why: failing.why,
        count: failing.count,
        for_seconds: seconds(now - failing.since),
        last_seconds: seconds(now - failing.at),
      },
    }),
  };
}

type Share = Pick<StandingDocument, 'weight' | 'zone' | 'far'>;

function shareOf(pool: PoolPolicy, ownZone: string | undefined, { status }: MemberRecord): Share {
  const { weight = 1, isFar = false } = weightAndZoneOf(pool, ownZone, status);
  const zone = pool.zoneTag === undefined ? undefined : status?.tags?.get(pool.zoneTag);
  return { weight, zone: zone ?? null, far: isFar };
}

function standingDocument(standing: Standing, now: Instant): Omit<StandingDocument, keyof Share | 'place'> {
  const cause = exclusionCause(standing);
  const answer = standing.why.evidence?.answer;
  return {
    standing: standing.kind,
    ...(cause === undefined ? {} : { cause }),
    why: describeStanding(standing, now),
    ...(answer === undefined ? {} : { answered: { status: answer.status, check: answer.to } }),
  };
}
