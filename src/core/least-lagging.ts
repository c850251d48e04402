// A pool without an open member because of lag: by default its fallback serves, by policy no member or the least
// lagging one (G6). A lagging member must still have a known, fresh lag, on the primary's timeline. Only the limit does
// not apply.
import type { Ages } from '../model/instant.ts';
import { recentLags } from './lag.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, ProbePolicy } from '../model/policy.ts';
import type { MemberRecord, Position, Snapshot } from './snapshot.ts';
import type { Standing, Standings } from './standing.ts';

/** No member of the pool is open, and lag is a reason for that. */
export function isAllLagging(standings: Standings): boolean {
  const all = [...standings.values()];
  return all.every(({ kind }) => kind !== 'open') && all.some(({ why }) => why.code === 'lagging');
}

/** The limit on sessions while lagging members serve. Empty while they do not. */
export function laggingCap(pool: PoolPolicy, standings: Standings): { readonly lagging?: { maxSessions: number } } {
  const isLagging = [...standings.values()].some(({ why }) => why.code === 'least_lagging');
  return isLagging ? { lagging: { maxSessions: pool.maxLaggingSessions } } : {};
}

/**
 * Opens the members that lag least. Lag counts in whole limits of the check: members that differ by less would take
 * turns at being the least, and clients would be sent back and forth. The other members keep their sessions meanwhile.
 */
export function withLeastLagging(
  snapshot: Snapshot,
  pool: PoolPolicy,
  probe: ProbePolicy,
  primary: readonly Position[],
  standings: Standings,
  ages: Ages,
): Standings {
  if (pool.whenAllLagging !== 'least_lagging' || !isAllLagging(standings)) return standings;
  const lags = new Map<MemberName, number>();
  for (const [name, record] of snapshot.members) {
    const isOutForLag = standings.get(name)?.why.code === 'lagging';
    const lag = isOutForLag ? freshLag(snapshot, record, probe, primary, ages) : undefined;
    if (lag !== undefined) lags.set(name, lag);
  }
  const unit = Math.max(1, pool.check.lagBytes ?? 1);
  const least = Math.min(...[...lags.values()].map((lag) => Math.floor(lag / unit)));
  const degraded = new Map<MemberName, Standing>();
  for (const [name, standing] of standings) {
    const lag = lags.get(name);
    if (lag !== undefined && Math.floor(lag / unit) === least) {
      degraded.set(name, { kind: 'open', why: { code: 'least_lagging' } });
    } else {
      degraded.set(name, lag === undefined ? standing : { kind: 'keep', why: standing.why });
    }
  }
  return degraded;
}

/** Our own estimate: the API reports only that the lag is too much. */
function freshLag(
  snapshot: Snapshot,
  record: MemberRecord,
  probe: ProbePolicy,
  primary: readonly Position[],
  ages: Ages,
): number | undefined {
  const { timeline } = record.status ?? {};
  const isOnTimeline = timeline === undefined || timeline >= (snapshot.highestTimeline ?? 0);
  const isFresh = ages.isYoung(record.positions[0]?.at, probe.readMaxAgeMs);
  if (!isOnTimeline || !isFresh || record.member.postgres === undefined) return undefined;
  return recentLags(primary, record, 1)[0];
}
