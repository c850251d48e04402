// A member's place in one pool, and the rules about silence that exclusive and shared pools have in common.
import { isOperation, type EvictionCause } from '../model/close-reason.ts';
import type { Ages, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { LeaveMode, PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { CheckRecord, MemberRecord, Snapshot } from './snapshot.ts';
import type { Why } from './why.ts';

export type Standing =
  | { readonly kind: 'open'; readonly why: Why }
  /** Live sessions stay. No new ones. */
  | { readonly kind: 'keep'; readonly why: Why }
  | Leave;

export interface Leave {
  readonly kind: 'leave';
  /** The pool's `on_leave` for this cause decides what happens to live sessions; for an operation they drain. */
  readonly cause: EvictionCause;
  readonly why: Why;
  /** How long the sessions have to end by themselves. Absent: the pool's drain timeout. Milliseconds. */
  readonly limitMs?: number;
  /** In a pool of primaries: the member has never been the primary, so it has left nothing. */
  readonly neverPrimary?: true;
  /** Whatever `on_leave` says. */
  readonly mode?: LeaveMode;
}

export type Standings = ReadonlyMap<MemberName, Standing>;

/** The facts and rules that decide a pool, at one instant. */
export interface PoolCase {
  readonly policy: RoutingPolicy;
  readonly snapshot: Snapshot;
  readonly pool: PoolPolicy;
  readonly ages: Ages;
}

export function mapStandings(all: Standings, next: (standing: Standing, name: MemberName) => Standing): Standings {
  return new Map([...all].map(([name, standing]) => [name, next(standing, name)]));
}

/** The end of the live sessions of a member that leaves the pool so. */
export function leaveMode({ onLeave }: PoolPolicy, { cause, mode }: Pick<Leave, 'cause' | 'mode'>): LeaveMode {
  return mode ?? (isOperation(cause) ? 'drain' : onLeave[cause]);
}

export function leave(cause: EvictionCause, why: Why): Leave {
  return { kind: 'leave', cause, why };
}

/** Keeps live sessions until the grace is over. */
export function untilGrace(isYoung: boolean, why: Why): Standing {
  return isYoung ? { kind: 'keep', why } : leave('silent', why);
}

/** Both ports refuse. */
export function dead(record: MemberRecord): Leave {
  return leave('dead', { code: 'refused', since: record.failure?.since });
}

/**
 * The member is new, has a new address, or was not asked the pool's check yet. That is not held against it, as long as
 * it answers.
 */
export function notAsked(record: MemberRecord, of: PoolCase): Standing {
  const isKept = record.probedAt === undefined || isKeptSince(record.answeredAt, record, of);
  return untilGrace(isKept, neverAnswered(record));
}

/**
 * The record of the pool's check. Undefined: the member was not asked, or not since an answer to another check ended
 * its death or its absence. Both ports had refused, a no to every check; or its host had vanished, which took it out of
 * shared pools.
 */
export function checkOf(record: MemberRecord, pool: PoolPolicy): CheckRecord | undefined {
  const { checks, answeredAt = -Infinity, returnedAt = -Infinity } = record;
  const check = checks.get(pool.check.text);
  if (check === undefined) return undefined;
  const isOfDead = check.verdict.why.code === 'refused' && answeredAt > check.at;
  const isOfVanished = !pool.exclusive && returnedAt > check.at;
  return isOfDead || isOfVanished ? undefined : check;
}

/** Evidence of the instant `at` still keeps the live sessions. */
export function isKeptSince(at: Instant | undefined, { unsent }: MemberRecord, { policy, ages }: PoolCase): boolean {
  const limitMs = policy.probe.silenceGraceMs + (unsent?.ms ?? 0);
  if (unsent?.since === undefined) return ages.isYoung(at, limitMs);
  return at !== undefined && at + limitMs > unsent.since;
}

export function silence(record: MemberRecord): Why {
  const outcome = record.failure?.outcome;
  const detail =
    outcome?.kind === 'failed' ? outcome.detail : outcome?.kind === 'refused' ? 'connection refused' : undefined;
  return { code: 'no_answer', since: record.failure?.since ?? record.answeredAt, detail };
}

function neverAnswered(record: MemberRecord): Why {
  if (record.mismatch !== undefined) return { code: 'other_cluster', detail: record.mismatch.detail };
  return record.failure === undefined ? { code: 'never_answered' } : silence(record);
}
