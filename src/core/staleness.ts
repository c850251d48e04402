// How old the data of a replica is: the age of the oldest WAL position of the primary that it has not replayed. A lag
// in bytes cannot see a replica that receives nothing while little is written. This needs no clock of a server, and it
// accuses nobody in a quiet cluster, because every replica has all there is.
import { primaryPositions } from './lag.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { MemberRecord, MissingWal, Position, Snapshot, WalMark, WalTrail } from './snapshot.ts';

/**
 * The end of a page may be the middle of a record that the primary itself has not finished: its WAL writer flushes
 * whole pages of transactions that are open. No replica can replay half a record, so such a position accuses nobody.
 * Bytes (`wal_block_size`).
 */
const PAGE = 8192;
/** Marks are dense for so long, or for the longest `max_staleness`. Milliseconds. */
const DENSE_MS = 60_000;
/** Two dense marks next to each other are closer than this part of that time. */
const DENSE_SPACING = 1 / 3600;
/** Two older ones are closer than this part of the time since then. So there are some thousand marks at most. */
const SPACING = 1 / 4;

/** After an answer of `member` at `at`. The newest of its positions may be older. */
export function nextTrail(
  { pools }: RoutingPolicy,
  { trail, highestTimeline }: Snapshot,
  { member, positions: [position] }: MemberRecord,
  at: Instant,
): WalTrail | undefined {
  if (position?.kind !== 'location' || position.at !== at) return trail;
  const { bytes, timeline } = position;
  if (timeline === undefined || timeline !== highestTimeline) return trail;
  const isSame = trail?.timeline === timeline && trail.member === member.name;
  // Two members claim one timeline at one instant: the first name counts, in whatever order their answers come.
  if (trail?.timeline === timeline && trail.member < member.name && trail.marks[0]?.at === at) return trail;
  // A primary that crashed may have lost WAL that nobody can replay any more.
  const marks = isSame ? trail.marks.filter((mark) => mark.bytes <= bytes) : [];
  const isNew = bytes !== marks[0]?.bytes && bytes % PAGE !== 0;
  return { member: member.name, timeline, marks: isNew ? thinned([{ at, bytes }, ...marks], denseMs(pools)) : marks };
}

function denseMs(pools: readonly PoolPolicy[]): number {
  return Math.max(DENSE_MS, ...pools.map(({ maxStalenessMs = 0 }) => maxStalenessMs));
}

function thinned(marks: readonly WalMark[], dense: number): readonly WalMark[] {
  const newestAt = marks[0]?.at ?? 0;
  const kept: WalMark[] = [];
  for (const [index, mark] of marks.entries()) {
    const newer = kept.at(-1);
    const older = marks[index + 1];
    const gap = newer !== undefined && older !== undefined ? newer.at - older.at : Infinity;
    const ageMs = newestAt - (older?.at ?? newestAt);
    if (gap > Math.max(dense * DENSE_SPACING, (ageMs - dense) * SPACING)) kept.push(mark);
  }
  return kept;
}

/** After an answer of a member at `at`. `position`: the newest of it, which may be older. */
export function nextMissing(
  trail: WalTrail | undefined,
  position: Position | undefined,
  known: MissingWal | undefined,
  at: Instant,
): MissingWal | undefined {
  if (position?.kind !== 'replayed') return undefined;
  if (position.at !== at) return known;
  const mark = trail?.marks.findLast((one) => one.bytes > position.bytes && one.at < at);
  return trail && mark && { ...mark, timeline: trail.timeline };
}

/**
 * The staleness at the newest answer of the replica, or of the primary if that is older: nothing is known of what a
 * silent primary writes. Milliseconds. Undefined: a position of one of them is not known.
 */
export function stalenessMs(
  snapshot: Snapshot,
  record: MemberRecord,
  primary: readonly Position[] = primaryPositions(snapshot),
): number | undefined {
  const [position] = record.positions;
  const [newest] = primary;
  if (position?.kind !== 'replayed' || newest === undefined) return undefined;
  const { missing } = record;
  if (missing === undefined || missing.timeline !== snapshot.highestTimeline) return 0;
  return Math.max(0, Math.min(position.at, newest.at) - missing.at);
}

/** Over the limit of the pool, and as many answers in a row as `fall` asks for were without the missing WAL. */
export function isStale(
  { maxStalenessMs: limitMs }: PoolPolicy,
  snapshot: Snapshot,
  record: MemberRecord,
  primary: readonly Position[],
  fall: number,
): boolean {
  const ms = limitMs === undefined ? undefined : stalenessMs(snapshot, record, primary);
  if (limitMs === undefined || ms === undefined || ms <= limitMs) return false;
  const { missing, positions } = record;
  return positions.slice(0, fall).every(({ at }) => missing !== undefined && at > missing.at);
}
