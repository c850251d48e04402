// The decision for a pool of several members (reads). A member is open on fresh positive evidence, after rise and fall,
// with our own estimates of its lag within the limits of bytes and time, on the primary's timeline (G5), while its
// replay does not stand still, and while it serves no exclusive pool.
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { primaryPositions, recentLags } from './lag.ts';
import { withLeastLagging } from './least-lagging.ts';
import { withoutStandstill } from './replay-standstill.ts';
import { isStale } from './staleness.ts';
import { isDead, type CheckRecord, type MemberRecord, type Position } from './snapshot.ts';
import {
  checkOf,
  dead,
  isKeptSince,
  leave,
  notAsked,
  silence,
  type PoolCase,
  type Standing,
  type Standings,
} from './standing.ts';
import { invalidWeight } from './weights-and-zones.ts';
import { isBehind, type Why } from './why.ts';

export function decideShared(of: PoolCase, exclusiveMembers: ReadonlySet<MemberName>): Standings {
  const { members } = of.snapshot;
  const primary = primaryPositions(of.snapshot);
  const standings = new Map<MemberName, Standing>();
  for (const [name, record] of members) {
    const isElsewhere = exclusiveMembers.has(name);
    standings.set(
      name,
      isElsewhere ? leave('promoted', { code: 'exclusive_elsewhere' }) : standingOf(record, of, primary),
    );
  }
  return withLeastLagging(of, primary, withoutStandstill(of, primary, standings));
}

function standingOf(record: MemberRecord, of: PoolCase, primary: readonly Position[]): Standing {
  const { policy, pool, ages } = of;
  if (isDead(record)) return dead(record);
  const { mismatch } = record;
  if (mismatch !== undefined) return leave('removed', { code: 'other_cluster', detail: mismatch.detail });
  const check = checkOf(record, pool);
  if (check === undefined) return notAsked(record, of);
  if (!isKeptSince(record.answeredAt, record, of)) return leave('silent', silence(record));
  if (!check.up) return down(check);
  if (!ages.isYoung(check.positiveAt, policy.probe.readMaxAgeMs)) return { kind: 'keep', why: silence(record) };
  const why = behind(record, of, primary);
  if (why !== undefined) return leave(isBehind(why) ? 'lagging' : 'old_timeline', why);
  if (record.member.postgres === undefined) return { kind: 'keep', why: { code: 'no_postgres_address' } };
  return { kind: 'open', why: openWhy(pool, record) };
}

function openWhy(pool: PoolPolicy, { status }: MemberRecord): Why {
  const invalid = invalidWeight(pool, status);
  return invalid === undefined ? { code: 'positive' } : { code: 'invalid_weight', detail: invalid };
}

/** For a member that rise and fall have taken out. Its newest answer decides about live sessions. */
function down(check: CheckRecord): Standing {
  const { verdict } = check;
  if (verdict.kind === 'positive') return { kind: 'keep', why: { code: 'rising', detail: `${check.streak} times` } };
  if (verdict.kind === 'not_now' || verdict.why.code === 'not_running') return { kind: 'keep', why: verdict.why };
  if (verdict.why.code === 'refused') return leave('dead', verdict.why);
  if (verdict.why.code === 'wrong_role') return leave('promoted', verdict.why);
  if (verdict.why.code === 'tagged_out') return leave('tagged_out', verdict.why);
  return leave(verdict.why.code === 'lagging' ? 'lagging' : 'check_failed', verdict.why);
}

/**
 * Why our own estimate puts the replica too far behind the primary. Undefined when it does not, or there is no
 * estimate.
 */
function behind(
  record: MemberRecord,
  { policy, snapshot, pool }: PoolCase,
  primary: readonly Position[],
): Why | undefined {
  const timeline = record.status?.timeline;
  const { highestTimeline } = snapshot;
  if (timeline !== undefined && highestTimeline !== undefined && timeline < highestTimeline) {
    return { code: 'other_timeline', detail: `on ${timeline}, the primary is on ${highestTimeline}` };
  }
  const { fall } = policy.probe;
  if (isFarBehind(record, pool, primary, fall)) return { code: 'lagging' };
  return isStale(pool, snapshot, record, primary, fall) ? { code: 'stale' } : undefined;
}

function isFarBehind(
  record: MemberRecord,
  { check: { lagBytes: limit } }: PoolPolicy,
  primary: readonly Position[],
  fall: number,
): boolean {
  if (limit === undefined) return false;
  const lags = recentLags(primary, record, fall);
  return lags[0] !== undefined && lags.every((lag) => lag !== undefined && lag > limit);
}
