// The decision for an exclusive pool: at most one member, always (G1). A member is open only on fresh positive
// evidence, alone on the highest timeline ever seen (G2). A negative answer or a proven rival takes its sessions
// synchronously (G3). Silence takes them by the clock (G4).
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, ProbePolicy } from '../model/policy.ts';
import type { HoldCause } from './routing-table.ts';
import { isOfLeader, isOfPrimary } from './primary-pools.ts';
import { isDead, type CheckRecord, type IdentityMismatch, type MemberRecord, type StandbyReport } from './snapshot.ts';
import { checkOf, dead, isKeptSince, leave, notAsked, silence, untilGrace } from './standing.ts';
import type { Leave, PoolCase, Standing, Standings } from './standing.ts';
import type { Why } from './why.ts';

/** Then one client at a time tries whether the server has left recovery. Milliseconds. */
const RECOVERY_MS = 2_000;
/** After the last report. The sessions that were tried since then tell nothing: TLS hides their server's word. */
const TRIALS_END_MS = 10_000;

export interface ExclusiveDecision {
  readonly standings: Standings;
  readonly winner: MemberName | undefined;
  /**
   * The members that serve the pool, or may still serve it while they are silent. Other pools have them by fallback
   * only.
   */
  readonly holders: readonly MemberName[];
  /** Why no member is open. Without meaning while one is. */
  readonly cause: HoldCause;
  /** The cluster has a standby leader, so no primary is to be expected. */
  readonly isStandbyCluster: boolean;
}

/** A member with fresh positive evidence. */
interface PoolCandidate {
  readonly name: MemberName;
  readonly timeline: number | undefined;
  readonly since: Instant;
}

interface Election {
  readonly winner: MemberName | undefined;
  /** Candidates that cannot be told apart. Empty, or at least two. */
  readonly rivals: ReadonlySet<MemberName>;
  readonly rivalsSince: Instant | undefined;
  /** A member below this timeline may not serve. Undefined while no timeline is known. */
  readonly floor: number | undefined;
}

export function decideExclusive(of: PoolCase): ExclusiveDecision {
  const { snapshot, pool } = of;
  const election = findWinner(of, freshCandidates(of));
  const standings = new Map<MemberName, Standing>();
  const holders: MemberName[] = [];
  for (const [name, record] of snapshot.members) {
    const standing = standingOf(record, of, election);
    standings.set(name, standing);
    if (isHolder(standing, checkOf(record, pool), election.floor)) holders.push(name);
  }
  const isOpen = election.winner !== undefined && standings.get(election.winner)?.kind === 'open';
  const isRecovering = [...standings.values()].some(({ why }) => why.code === 'in_recovery');
  const held = isRecovering ? 'in_recovery' : 'no_member';
  const cause = !snapshot.complete ? 'starting' : election.rivals.size > 0 ? 'two_primaries' : held;
  return {
    standings,
    holders,
    winner: isOpen ? election.winner : undefined,
    cause,
    isStandbyCluster: pool.check.family === 'primary' && hasStandbyLeader(of),
  };
}

/**
 * A silent member is a holder only when it has answered the check before. One that has lost its sessions to another
 * member may still serve, unless its timeline has ended.
 */
function isHolder({ kind, why }: Standing, check: CheckRecord | undefined, floor: number | undefined): boolean {
  const isUnheard = kind === 'keep' && why.code === 'no_answer' && check !== undefined;
  const mayServe = why.code === 'superseded' && (check?.positiveTimeline ?? Infinity) >= (floor ?? -Infinity);
  return kind === 'open' || isUnheard || mayServe || why.code === 'two_primaries' || why.code === 'in_recovery';
}

/** The newest instant at which the member was known to be positive, by its own answer or by a vouch. */
function heldAt(record: MemberRecord, check: CheckRecord, probe: ProbePolicy): Instant | undefined {
  return isVouched(record, probe) ? Math.max(check.positiveAt ?? -Infinity, record.vouch.at) : check.positiveAt;
}

/** The same for new sessions: a vouch that was taken back only keeps live sessions for their grace. */
function provenAt(record: MemberRecord, check: CheckRecord, probe: ProbePolicy): Instant | undefined {
  return record.vouch?.takenBack === true ? check.positiveAt : heldAt(record, check, probe);
}

/** A vouch replaces the answer of a silent API only while PostgreSQL's own port accepts (guarantees.md: vouching). */
function isVouched(
  record: MemberRecord,
  probe: ProbePolicy,
): record is MemberRecord & { readonly vouch: NonNullable<MemberRecord['vouch']> } {
  const outcome = record.failure?.outcome;
  const accepts = outcome !== undefined && outcome.kind !== 'answered' && outcome.postgres === 'accepts';
  return probe.vouching && record.vouch !== undefined && accepts;
}

function freshCandidates({ policy: { probe }, snapshot, pool, ages }: PoolCase): readonly PoolCandidate[] {
  const candidates: PoolCandidate[] = [];
  for (const [name, record] of snapshot.members) {
    const check = checkOf(record, pool);
    if (check?.verdict.kind !== 'positive' || record.mismatch !== undefined || isDead(record)) continue;
    if (!ages.isYoung(provenAt(record, check, probe), probe.writeMaxAgeMs)) continue;
    candidates.push({ name, timeline: check.positiveTimeline, since: check.positiveSince ?? check.at });
  }
  return candidates;
}

/**
 * The highest timeline wins. Rivals with equal timelines, or one without a timeline, leave the pool without a winner.
 */
function findWinner({ snapshot, pool }: PoolCase, candidates: readonly PoolCandidate[]): Election {
  const known = candidates.flatMap((candidate) => candidate.timeline ?? []);
  const seen = pool.check.family === 'primary' ? snapshot.highestTimeline : undefined;
  const top = Math.max(seen ?? -Infinity, ...known);
  const floor = top === -Infinity ? undefined : top;
  const rivals = candidates.filter(({ timeline }) => timeline === undefined || timeline >= top);
  if (rivals.length <= 1) {
    return { winner: rivals[0]?.name, rivals: new Set(), rivalsSince: undefined, floor };
  }
  const [, second] = rivals.map((rival) => rival.since).toSorted((a, b) => a - b);
  return { winner: undefined, rivals: new Set(rivals.map((rival) => rival.name)), rivalsSince: second, floor };
}

function standingOf(record: MemberRecord, of: PoolCase, election: Election): Standing {
  const { pool, ages } = of;
  const { probe } = of.policy;
  const check = checkOf(record, pool);
  if (isDead(record)) return dead(record);
  if (record.mismatch?.isOtherSystem === true) return ofOtherSystem(record.mismatch);
  if (check === undefined) return sinceDeath(record, of, election) ?? notAsked(record, of);
  const isLeftToPostgres = !isProven(election) && isShuttingDown(record, check, of);
  if (check.verdict.kind === 'negative' && !isLeftToPostgres) {
    if (check.verdict.why.code === 'refused') return leave('dead', check.verdict.why);
    const demoted = leave('demoted', check.verdict.why);
    return check.positiveAt === undefined && isOfLeader(pool) ? { ...demoted, neverPrimary: true } : demoted;
  }
  const isKept = isKeptSince(heldAt(record, check, probe), record, of);
  const superseded = supersededBy(record, check, election, isKept);
  if (superseded !== undefined) return leave('demoted', superseded);
  if (isLeftToPostgres) return { kind: 'keep', why: check.verdict.why };
  if (check.verdict.kind === 'not_now') {
    return untilGrace(isKeptSince(record.answeredAt, record, of), check.verdict.why);
  }
  if (record.mismatch !== undefined) {
    return untilGrace(isKept, { code: 'other_cluster', detail: record.mismatch.detail });
  }
  if (election.rivals.has(record.member.name)) {
    return untilGrace(ages.isYoung(election.rivalsSince, probe.silenceGraceMs), {
      code: 'two_primaries',
      detail: `timeline ${check.positiveTimeline ?? 'unknown'}`,
    });
  }
  if (election.winner !== record.member.name) return untilGrace(isKept, silence(record));
  if (record.member.postgres === undefined) return { kind: 'keep', why: { code: 'no_postgres_address' } };
  const recovery = recoveryOf(pool, record);
  if (recovery !== undefined && ages.isYoung(recovery.at, RECOVERY_MS)) {
    return { kind: 'keep', why: { code: 'in_recovery', since: recovery.since } };
  }
  return { kind: 'open', why: openWhy(record, probe) };
}

/** The member has answered another check since both ports refused. Its old timeline stays a fact. */
function sinceDeath(record: MemberRecord, { pool }: PoolCase, election: Election): Leave | undefined {
  const before = record.checks.get(pool.check.text);
  const superseded = before && supersededBy(record, before, election, false);
  return superseded && leave('demoted', superseded);
}

/**
 * Its sessions are at a server of another cluster, or will be. None of them moves: the state that such a server told is
 * not theirs.
 */
function ofOtherSystem({ detail }: IdentityMismatch): Leave {
  return { ...leave('removed', { code: 'other_cluster', detail }), mode: 'close' };
}

/** Some member is the primary, or several say so. */
function isProven({ winner, rivals }: Election): boolean {
  return winner !== undefined || rivals.size > 0;
}

/** Another member has certainly been the primary since, or is. `isKept`: nothing else would end its sessions now. */
function supersededBy(record: MemberRecord, check: CheckRecord, election: Election, isKept: boolean): Why | undefined {
  const { winner, floor } = election;
  const isPromoting = check.verdict.why.code === 'promoting' && !isProven(election);
  const timeline = check.positiveTimeline;
  if (!isPromoting && timeline !== undefined && floor !== undefined && timeline < floor) {
    return { code: 'superseded', detail: `on timeline ${timeline}, a primary was seen on ${floor}` };
  }
  if (!isKept || winner === undefined || winner === record.member.name) return undefined;
  return { code: 'superseded', detail: `${winner} is proven to be the next one` };
}

/** The server's own word outweighs its API: a promotion may never end. A pooler may repeat an old word. */
function recoveryOf(pool: PoolPolicy, record: MemberRecord | undefined): StandbyReport | undefined {
  const report = record?.standbyReport;
  return isOfPrimary(pool) && report?.by === 'standby' ? report : undefined;
}

/** One client at a time tries the server. */
export function isTried({ pool, ages }: PoolCase, record: MemberRecord | undefined): boolean {
  const recovery = recoveryOf(pool, record);
  return recovery !== undefined && ages.isYoung(recovery.at, TRIALS_END_MS);
}

/**
 * The member has served until now and reports that its PostgreSQL stops or has stopped. PostgreSQL ends its sessions
 * itself, each with a message, and its replication connections last, when they have received everything.
 */
function isShuttingDown(record: MemberRecord, check: CheckRecord, of: PoolCase): boolean {
  if (check.verdict.kind !== 'negative' || check.verdict.why.code !== 'not_running') return false;
  return record.mismatch === undefined && isKeptSince(heldAt(record, check, of.policy.probe), record, of);
}

function openWhy(record: MemberRecord, probe: ProbePolicy): Why {
  return isVouched(record, probe) && !record.vouch.takenBack
    ? {
        code: 'vouched',
        detail: `PostgreSQL accepts connections, ${record.vouch.by} confirms that it is the leader`,
        since: record.failure?.since,
      }
    : { code: 'positive' };
}

function hasStandbyLeader({ policy: { probe }, snapshot, ages }: PoolCase): boolean {
  return [...snapshot.members.values()].some(
    (record) => record.status?.role === 'standby_leader' && ages.isYoung(record.answeredAt, probe.readMaxAgeMs),
  );
}
