// The decision for an exclusive pool: at most one member, always. A member is open only on fresh positive evidence, alone on
// the highest timeline ever seen. A negative answer or a proven rival takes its sessions in the same step; silence takes
// them by the clock (G1 to G4).
import type { Ages, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, ProbePolicy } from '../model/policy.ts';
import type { HoldCause, Standing, Why } from './routing-table.ts';
import { isDead } from './snapshot.ts';
import type { CheckRecord, MemberRecord, Snapshot } from './snapshot.ts';
import { isWithinGrace } from './unasked.ts';

export interface ExclusiveDecision {
  readonly standings: ReadonlyMap<MemberName, Standing>;
  readonly winner: MemberName | undefined;
  /** Who serves the pool, or may still do so unheard: they are in no other pool unless by fallback. */
  readonly holders: readonly MemberName[];
  /** Why nobody is open, when nobody is. */
  readonly cause: HoldCause;
  /** The members that say so themselves are led by a standby leader: no primary is to be expected here. */
  readonly isStandbyCluster: boolean;
}

interface Claim {
  readonly name: MemberName;
  readonly timeline: number | undefined;
  readonly since: Instant;
}

interface Contest {
  readonly winner: MemberName | undefined;
  /** Members that claim the place together; empty unless there are at least two. */
  readonly rivals: ReadonlySet<MemberName>;
  readonly rivalsSince: Instant | undefined;
  /** Nobody below this timeline may serve; undefined while none is known. */
  readonly floor: number | undefined;
}

export function decideExclusive(
  snapshot: Snapshot,
  pool: PoolPolicy,
  probe: ProbePolicy,
  ages: Ages,
): ExclusiveDecision {
  const contest = hold(snapshot, pool, freshClaims(snapshot, pool, probe, ages));
  const standings = new Map<MemberName, Standing>();
  const holders: MemberName[] = [];
  for (const [name, record] of snapshot.members) {
    const standing = standingOf(record, pool, probe, contest, ages);
    standings.set(name, standing);
    if (isHolder(standing, record.checks.get(pool.check.text))) holders.push(name);
  }
  const isOpen = contest.winner !== undefined && standings.get(contest.winner)?.kind === 'open';
  const cause = !snapshot.complete ? 'starting' : contest.rivals.size > 0 ? 'two_primaries' : 'no_member';
  return {
    standings,
    holders,
    winner: isOpen ? contest.winner : undefined,
    cause,
    isStandbyCluster: pool.check.family === 'primary' && hasStandbyLeader(snapshot, probe, ages),
  };
}

/** Silence makes a holder only of who has held the check: of a member that never said yes there is nothing to fear. */
function isHolder({ kind, why }: Standing, check: CheckRecord | undefined): boolean {
  const isUnheard = kind === 'keep' && why.code === 'no_answer' && check !== undefined;
  return kind === 'open' || isUnheard || why.code === 'two_primaries';
}

/** The newest instant at which the member was known to hold the check, by its own word or another's. */
function heldAt(record: MemberRecord, check: CheckRecord, probe: ProbePolicy): Instant | undefined {
  return isVouched(record, probe) ? Math.max(check.positiveAt ?? -Infinity, record.vouch.at) : check.positiveAt;
}

/** The same as far as it may open new sessions: a vouch that was taken back only keeps the live ones for their grace. */
function claimedAt(record: MemberRecord, check: CheckRecord, probe: ProbePolicy): Instant | undefined {
  return record.vouch?.takenBack === true ? check.positiveAt : heldAt(record, check, probe);
}

/** A vouch stands in for a silent API only while PostgreSQL's own port accepts (guarantees.md: vouching). */
function isVouched(
  record: MemberRecord,
  probe: ProbePolicy,
): record is MemberRecord & { readonly vouch: NonNullable<MemberRecord['vouch']> } {
  const outcome = record.failure?.outcome;
  const accepts = outcome !== undefined && outcome.kind !== 'answered' && outcome.postgres === 'accepts';
  return probe.vouching && record.vouch !== undefined && accepts;
}

function freshClaims(snapshot: Snapshot, pool: PoolPolicy, probe: ProbePolicy, ages: Ages): readonly Claim[] {
  const claims: Claim[] = [];
  for (const [name, record] of snapshot.members) {
    const check = record.checks.get(pool.check.text);
    if (check?.verdict.kind !== 'positive' || record.mismatch !== undefined || isDead(record)) continue;
    if (!ages.isYoung(claimedAt(record, check, probe), probe.writeMaxAgeMs)) continue;
    claims.push({ name, timeline: check.positiveTimeline, since: check.positiveSince ?? check.at });
  }
  return claims;
}

/** Highest timeline wins. Rivals that cannot be told apart (equal, or one without a timeline) leave nobody. */
function hold(snapshot: Snapshot, pool: PoolPolicy, claims: readonly Claim[]): Contest {
  const known = claims.flatMap((claim) => claim.timeline ?? []);
  const seen = pool.check.family === 'primary' ? snapshot.highestTimeline : undefined;
  const top = Math.max(seen ?? -Infinity, ...known);
  const floor = top === -Infinity ? undefined : top;
  const rivals = claims.filter((claim) => claim.timeline === undefined || claim.timeline >= top);
  if (rivals.length <= 1) {
    return { winner: rivals[0]?.name, rivals: new Set(), rivalsSince: undefined, floor };
  }
  const [, second] = rivals.map((claim) => claim.since).toSorted((a, b) => a - b);
  return { winner: undefined, rivals: new Set(rivals.map((claim) => claim.name)), rivalsSince: second, floor };
}

function standingOf(
  record: MemberRecord,
  pool: PoolPolicy,
  probe: ProbePolicy,
  contest: Contest,
  ages: Ages,
): Standing {
  const check = record.checks.get(pool.check.text);
  if (isDead(record)) return leave('dead', { code: 'refused', ...since(record.failure?.since) });
  if (check === undefined) return notAsked(record, probe, ages);
  const isProvenElsewhere = contest.winner !== undefined || contest.rivals.size > 0;
  const isLeftToPostgres = !isProvenElsewhere && isShuttingDown(record, check, probe, ages);
  if (check.verdict.kind === 'negative' && !isLeftToPostgres) {
    if (check.verdict.why.code === 'refused') return leave('dead', check.verdict.why);
    const demoted = leave('demoted', check.verdict.why);
    return check.positiveAt === undefined && isOfPrimary(pool) ? { ...demoted, neverPrimary: true } : demoted;
  }
  const timeline = check.positiveTimeline;
  const isPromoting = check.verdict.why.code === 'promoting' && !isProvenElsewhere;
  if (!isPromoting && timeline !== undefined && contest.floor !== undefined && timeline < contest.floor) {
    return leave('demoted', { code: 'superseded', detail: `timeline ${timeline}, seen ${contest.floor}` });
  }
  if (isLeftToPostgres) return { kind: 'keep', why: check.verdict.why };
  if (check.verdict.kind === 'not_now') {
    return untilGrace(isKeptSince(record.answeredAt, record, probe, ages), check.verdict.why);
  }
  const isKept = isKeptSince(heldAt(record, check, probe), record, probe, ages);
  if (record.mismatch !== undefined) {
    return untilGrace(isKept, { code: 'other_cluster', detail: record.mismatch.detail });
  }
  if (contest.rivals.has(record.member.name)) {
    return untilGrace(ages.isYoung(contest.rivalsSince, probe.silenceGraceMs), {
      code: 'two_primaries',
      detail: `timeline ${timeline ?? 'unknown'}`,
    });
  }
  if (contest.winner !== record.member.name) return untilGrace(isKept, silence(record));
  if (record.member.postgres === undefined) return { kind: 'keep', why: { code: 'no_postgres_address' } };
  return { kind: 'open', why: openWhy(record, probe) };
}

function isOfPrimary({ check }: PoolPolicy): boolean {
  return check.family === 'primary' || check.family === 'leader';
}

/**
 * It has served until now and says that its PostgreSQL stops or has stopped. PostgreSQL ends its sessions itself, each
 * with words, and its replication connections last, when they have received everything.
 */
function isShuttingDown(record: MemberRecord, check: CheckRecord, probe: ProbePolicy, ages: Ages): boolean {
  if (check.verdict.kind !== 'negative' || check.verdict.why.code !== 'not_running') return false;
  return record.mismatch === undefined && isKeptSince(heldAt(record, check, probe), record, probe, ages);
}

function openWhy(record: MemberRecord, probe: ProbePolicy): Why {
  return isVouched(record, probe) && !record.vouch.takenBack
    ? { code: 'vouched', detail: `by ${record.vouch.by}`, ...since(record.failure?.since) }
    : { code: 'positive' };
}

/** What was known of it at `at` still keeps its live sessions. */
export function isKeptSince(
  at: Instant | undefined,
  { unasked }: MemberRecord,
  { silenceGraceMs }: ProbePolicy,
  ages: Ages,
): boolean {
  return isWithinGrace(at, unasked, silenceGraceMs, ages);
}

/** A member new to us, at a new address, or asked a new check: nothing is held against it before it was asked. */
export function notAsked(record: MemberRecord, probe: ProbePolicy, ages: Ages): Standing {
  const isKept = record.probedAt === undefined || isKeptSince(record.answeredAt, record, probe, ages);
  return untilGrace(isKept, neverAnswered(record));
}

function untilGrace(isYoung: boolean, why: Why): Standing {
  return isYoung ? { kind: 'keep', why } : leave('silent', why);
}

function leave(cause: 'dead' | 'silent' | 'demoted', why: Why): Extract<Standing, { kind: 'leave' }> {
  return { kind: 'leave', cause, why };
}

export function silence(record: MemberRecord): Why {
  const outcome = record.failure?.outcome;
  const detail = outcome?.kind === 'failed' ? outcome.detail : outcome?.kind === 'refused' ? 'refused' : undefined;
  return {
    code: 'no_answer',
    ...since(record.failure?.since ?? record.answeredAt),
    ...(detail === undefined ? {} : { detail }),
  };
}

function neverAnswered(record: MemberRecord): Why {
  if (record.mismatch !== undefined) return { code: 'other_cluster', detail: record.mismatch.detail };
  return record.failure === undefined ? { code: 'never_answered' } : silence(record);
}

function since(at: Instant | undefined): { readonly since?: Instant } {
  return at === undefined ? {} : { since: at };
}

function hasStandbyLeader(snapshot: Snapshot, probe: ProbePolicy, ages: Ages): boolean {
  return [...snapshot.members.values()].some(
    (record) => record.status?.role === 'standby_leader' && ages.isYoung(record.answeredAt, probe.readMaxAgeMs),
  );
}
