// A replica whose replay stands still shows ever older rows, however few bytes it is behind: its replay is paused, it
// receives nothing, or a query of a reader delays its replay. It lags while another open replica of the pool has
// replayed more.
import type { Instant } from '../model/instant.ts';
import { primaryPositions } from './lag.ts';
import type { MemberName } from '../model/member.ts';
import type { MemberStatus } from '../model/member-status.ts';
import type { MemberRecord, Position, Snapshot } from './snapshot.ts';
import { leave, type PoolCase, type Standings } from './standing.ts';

const STILL = leave('lagging', { code: 'lagging', detail: 'it replays nothing, and others do' });

/** After an answer of the replica with that body. */
export function nextUnreplayedSince(
  snapshot: Snapshot,
  { positions: [known], unreplayedSince }: MemberRecord,
  body: MemberStatus | undefined,
): Instant | undefined {
  if (body === undefined) return unreplayedSince;
  if (known?.kind !== 'replayed' || body.replayed !== known.bytes) return undefined;
  const [primary] = primaryPositions(snapshot);
  return unreplayedSince ?? (primary !== undefined && primary.bytes > known.bytes ? primary.at : undefined);
}

/** `primary`: its positions, newest first. Without a limit of lag in its check, a pool takes every replica. */
export function withoutStandstill(
  { policy, snapshot, pool, ages }: PoolCase,
  primary: readonly Position[],
  standings: Standings,
): Standings {
  const { readMaxAgeMs } = policy.probe;
  if (pool.check.lagBytes === undefined || !ages.isYoung(primary[0]?.at, readMaxAgeMs)) return standings;
  const still = new Map<MemberName, number>();
  let furthest = -Infinity;
  for (const [name, record] of snapshot.members) {
    const position = standings.get(name)?.kind === 'open' ? newestReplayed(record) : undefined;
    if (position === undefined) continue;
    const since = record.unreplayedSince ?? Infinity;
    if (position.at >= since + readMaxAgeMs) still.set(name, position.bytes);
    else furthest = Math.max(furthest, position.bytes);
  }
  const following = new Map(standings);
  for (const [name, bytes] of still) if (bytes < furthest) following.set(name, STILL);
  return following;
}

function newestReplayed({ positions: [position] }: MemberRecord): Position | undefined {
  return position?.kind === 'replayed' ? position : undefined;
}
