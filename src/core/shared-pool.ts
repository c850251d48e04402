// The decision for a pool of several members (reads): who takes new sessions, who only keeps its live ones. A member is open on
// fresh positive evidence, after rise and fall, with our own lag within the check's bound, on the primary's timeline
// (G5), and while it serves no exclusive pool.
import { isKeptSince, notAsked, silence } from './exclusive-pool.ts';
import type { Ages } from '../model/instant.ts';
import { primaryPositions, recentLags } from './lag.ts';
import { withLeastLagging } from './least-lagging.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, ProbePolicy } from '../model/policy.ts';
import type { Standing, Why } from './routing-table.ts';
import { oddWeight } from './weights-and-zones.ts';
import { isDead } from './snapshot.ts';
import type { CheckRecord, MemberRecord, Position, Snapshot } from './snapshot.ts';
import type { LeaveCause } from '../model/close-reason.ts';

export function decideShared(
  snapshot: Snapshot,
  pool: PoolPolicy,
  probe: ProbePolicy,
  exclusiveMembers: ReadonlySet<MemberName>,
  ages: Ages,
): ReadonlyMap<MemberName, Standing> {
  const primary = primaryPositions(snapshot);
  const standings = new Map<MemberName, Standing>();
  for (const [name, record] of snapshot.members) {
    const standing = exclusiveMembers.has(name)
      ? leave('promoted', { code: 'exclusive_elsewhere' })
      : standingOf(snapshot, record, pool, probe, primary, ages);
    standings.set(name, standing);
  }
  return withLeastLagging(snapshot, pool, probe, primary, standings, ages);
}

function standingOf(
  snapshot: Snapshot,
  record: MemberRecord,
  pool: PoolPolicy,
  probe: ProbePolicy,
  primary: readonly Position[],
  ages: Ages,
): Standing {
  if (isDead(record)) {
    const at = record.failure?.since;
    return leave('dead', { code: 'refused', ...(at === undefined ? {} : { since: at }) });
  }
  const { mismatch } = record;
  if (mismatch !== undefined) return leave('removed', { code: 'other_cluster', detail: mismatch.detail });
  const check = record.checks.get(pool.check.text);
  if (check === undefined) return notAsked(record, probe, ages);
  if (!isKeptSince(record.answeredAt, record, probe, ages)) return leave('silent', silence(record));
  if (!check.up) return down(check);
  if (!ages.isYoung(check.positiveAt, probe.readMaxAgeMs)) return { kind: 'keep', why: silence(record) };
  const why = behind(snapshot, record, pool, probe, primary);
  if (why !== undefined) return leave('lagging', why);
  if (record.member.postgres === undefined) return { kind: 'keep', why: { code: 'no_postgres_address' } };
  return { kind: 'open', why: openWhy(pool, record) };
}

function openWhy(pool: PoolPolicy, { status }: MemberRecord): Why {
  const odd = oddWeight(pool, status);
  return odd === undefined ? { code: 'positive' } : { code: 'odd_weight', detail: odd };
}

/** Out after rise and fall: what the newest answer says decides what becomes of live sessions. */
function down(check: CheckRecord): Standing {
  const { verdict } = check;
  if (verdict.kind === 'positive') return { kind: 'keep', why: { code: 'rising', detail: `${check.streak} times` } };
  if (verdict.kind === 'not_now' || verdict.why.code === 'not_running') return { kind: 'keep', why: verdict.why };
  if (verdict.why.code === 'refused') return leave('dead', verdict.why);
  if (verdict.why.code === 'wrong_role') return leave('promoted', verdict.why);
  if (verdict.why.code === 'tagged_out') return leave('tagged_out', verdict.why);
  return leave('lagging', verdict.why);
}

/** Why the replica is too far from the primary, by our own reckoning; undefined when it is not, or nobody can tell. */
function behind(
  snapshot: Snapshot,
  record: MemberRecord,
  pool: PoolPolicy,
  probe: ProbePolicy,
  primary: readonly Position[],
): Why | undefined {
  const timeline = record.status?.timeline;
  const { highestTimeline } = snapshot;
  if (timeline !== undefined && highestTimeline !== undefined && timeline < highestTimeline) {
    return { code: 'other_timeline', detail: `timeline ${timeline}, the primary's is ${highestTimeline}` };
  }
  const bound = pool.check.lagBytes;
  if (bound === undefined) return undefined;
  const lags = recentLags(primary, record, probe.fall);
  const [newest] = lags;
  const isBehind = newest !== undefined && lags.every((lag) => lag !== undefined && lag > bound);
  return isBehind ? { code: 'lagging' } : undefined;
}

function leave(cause: LeaveCause, why: Why): Standing {
  return { kind: 'leave', cause, why };
}
