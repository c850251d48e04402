// A pool without an open member because of lag: by default its fallback serves, by policy no member or the least
// lagging one (G6). A lagging member must still have a known, fresh lag, on the primary's timeline. Only the limit does
// not apply.
import { recentLags } from './lag.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { stalenessMs } from './staleness.ts';
import { isBehind } from './why.ts';
import type { MemberRecord, Position } from './snapshot.ts';
import { mapStandings, type PoolCase, type Standings } from './standing.ts';

/** No member of the pool is open, and lag is a reason for that. */
export function isAllLagging(standings: Standings): boolean {
  const all = [...standings.values()];
  return all.every(({ kind }) => kind !== 'open') && all.some(({ why }) => isBehind(why));
}

/** The limit on sessions while lagging members serve. Empty while they do not. */
export function laggingCap(pool: PoolPolicy, standings: Standings): { readonly lagging?: { maxSessions: number } } {
  const isLagging = [...standings.values()].some(({ why }) => why.code === 'least_lagging');
  return isLagging ? { lagging: { maxSessions: pool.maxLaggingSessions } } : {};
}

/**
 * Opens the members that lag least. Lag counts in whole limits of bytes or time, by the worse of the two: members that
 * differ by less would take turns at being the least, and clients would be sent back and forth. The other members keep
 * their sessions meanwhile.
 */
export function withLeastLagging(of: PoolCase, primary: readonly Position[], standings: Standings): Standings {
  const { snapshot, pool } = of;
  if (pool.whenAllLagging !== 'least_lagging' || !isAllLagging(standings)) return standings;
  const lags = new Map<MemberName, number>();
  for (const [name, record] of snapshot.members) {
    const standing = standings.get(name);
    const lag = standing && isBehind(standing.why) ? freshLag(record, of, primary) : undefined;
    if (lag !== undefined) lags.set(name, lag);
  }
  const least = Math.min(...lags.values());
  return mapStandings(standings, (standing, name) => {
    const lag = lags.get(name);
    if (lag === undefined) return standing;
    return lag === least ? { kind: 'open', why: { code: 'least_lagging' } } : { kind: 'keep', why: standing.why };
  });
}

/** In whole limits, by our own estimate: the API reports only that the lag is too much. */
function freshLag(
  record: MemberRecord,
  { policy, snapshot, pool, ages }: PoolCase,
  primary: readonly Position[],
): number | undefined {
  const { timeline } = record.status ?? {};
  const isOnTimeline = timeline === undefined || timeline >= (snapshot.highestTimeline ?? 0);
  const isFresh = ages.isYoung(record.positions[0]?.at, policy.probe.readMaxAgeMs);
  if (!isOnTimeline || !isFresh || record.member.postgres === undefined) return undefined;
  const [lag] = recentLags(primary, record, 1);
  const { check, maxStalenessMs = Infinity } = pool;
  if (lag === undefined) return undefined;
  const inBytes = lag / Math.max(1, check.lagBytes ?? Infinity);
  return Math.floor(Math.max(inBytes, (stalenessMs(snapshot, record, primary) ?? 0) / maxStalenessMs));
}
