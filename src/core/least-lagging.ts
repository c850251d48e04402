// A pool without an open member because of lag: by default its fallback serves, by policy no member or the least
// lagging one (G6). A lagging member must still have a known, fresh lag, on the primary's timeline. Only the limit does
// not apply.
import { recentLags } from './lag.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import type { MemberRecord, Position } from './snapshot.ts';
import { mapStandings, type PoolCase, type Standings } from './standing.ts';

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
export function withLeastLagging(of: PoolCase, primary: readonly Position[], standings: Standings): Standings {
  const { snapshot, pool } = of;
  if (pool.whenAllLagging !== 'least_lagging' || !isAllLagging(standings)) return standings;
  const lags = new Map<MemberName, number>();
  for (const [name, record] of snapshot.members) {
    const isOutForLag = standings.get(name)?.why.code === 'lagging';
    const lag = isOutForLag ? freshLag(record, of, primary) : undefined;
    if (lag !== undefined) lags.set(name, lag);
  }
  const unit = Math.max(1, pool.check.lagBytes ?? 1);
  const least = Math.min(...[...lags.values()].map((lag) => Math.floor(lag / unit)));
  return mapStandings(standings, (standing, name) => {
    const lag = lags.get(name);
    if (lag === undefined) return standing;
    const isLeast = Math.floor(lag / unit) === least;
    return isLeast ? { kind: 'open', why: { code: 'least_lagging' } } : { kind: 'keep', why: standing.why };
  });
}

/** Our own estimate: the API reports only that the lag is too much. */
function freshLag(
  record: MemberRecord,
  { policy, snapshot, ages }: PoolCase,
  primary: readonly Position[],
): number | undefined {
  const { timeline } = record.status ?? {};
  const isOnTimeline = timeline === undefined || timeline >= (snapshot.highestTimeline ?? 0);
  const isFresh = ages.isYoung(record.positions[0]?.at, policy.probe.readMaxAgeMs);
  if (!isOnTimeline || !isFresh || record.member.postgres === undefined) return undefined;
  return recentLags(primary, record, 1)[0];
}
