// Never back in time: whether a server certainly shows everything that another server may have shown to a session. The
// proof needs the words of both servers on the session's own connections, the timeline that each follows, and the
// primary's own yes from after them. Everything unknown is no proof.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { WalReport } from '../model/moves.ts';
import type { PoolPolicy } from '../model/policy.ts';
import type { MemberRecord, Snapshot } from './snapshot.ts';

/** The most that the old server has shown to a session. */
export interface SeenPosition {
  readonly wal: WalReport;
  /** The timeline that the server followed. Undefined: it is not known. */
  readonly timeline: number | undefined;
  /** The server's answer had arrived. */
  readonly at: Instant;
}

/** The state of the next server. */
export interface ReachedPosition {
  readonly member: MemberName;
  readonly wal: WalReport;
  /** The server's answer had arrived. */
  readonly at: Instant;
}

export type CatchUp =
  | { readonly kind: 'caught_up' }
  /** `primary_unproven`: no primary said yes since. The others: the next server has not caught up. */
  | { readonly kind: 'not_yet'; readonly why: 'primary_unproven' | 'other_timeline' | 'behind' }
  /** No later evidence will prove it. */
  | { readonly kind: 'never'; readonly why: 'timeline_unknown' | 'timeline_ended' | 'wal_missing' };

/**
 * To be called with the snapshot of the moment when the old server answered: a later answer of its API proves nothing
 * about now, because the server may have been rewound meanwhile.
 */
export function shownBy(snapshot: Snapshot, member: MemberName, wal: WalReport, at: Instant): SeenPosition {
  const timeline = wal.kind === 'primary' ? wal.timeline : followed(snapshot.members.get(member));
  return { wal, timeline, at };
}

/**
 * A primary that says yes on a timeline, asked after both servers, rules out that either of them followed a later one
 * then: members are promoted with the leader lock alone. An API may report the timeline that its server followed
 * before, never one that it has not reached. So two servers whose reports name that very timeline follow its history,
 * and positions can be compared.
 */
export function catchUp(
  pools: readonly PoolPolicy[],
  snapshot: Snapshot,
  shown: SeenPosition,
  reached: ReachedPosition,
): CatchUp {
  if (shown.timeline === undefined) return { kind: 'never', why: 'timeline_unknown' };
  const primary = provenPrimary(pools, snapshot, Math.max(shown.at, reached.at));
  if (primary === undefined) return { kind: 'not_yet', why: 'primary_unproven' };
  if (shown.timeline < primary.timeline) return { kind: 'never', why: 'timeline_ended' };
  if (shown.timeline > primary.timeline) return { kind: 'not_yet', why: 'primary_unproven' };
  if (reached.wal.kind === 'primary') {
    if (reached.wal.timeline !== primary.timeline || primary.record.member.name !== reached.member) {
      return { kind: 'not_yet', why: 'other_timeline' };
    }
    return showsAllTransactions(shown, reached) ? { kind: 'caught_up' } : { kind: 'not_yet', why: 'behind' };
  }
  const record = snapshot.members.get(reached.member);
  if (followed(record) !== primary.timeline) return { kind: 'not_yet', why: 'other_timeline' };
  const isThere = hasReplayed(reached.wal.replayed, shown, primary);
  return isThere ? { kind: 'caught_up' } : { kind: 'not_yet', why: 'behind' };
}

/**
 * Whether `member` seems to have caught up, by the answers to probes. Good enough to choose where to log in, and no
 * proof: the answers may be older than the server's last start.
 */
export function seemsCaughtUp(
  pools: readonly PoolPolicy[],
  snapshot: Snapshot,
  shown: SeenPosition,
  member: MemberName,
): boolean {
  const primary = provenPrimary(pools, snapshot, -Infinity);
  const record = snapshot.members.get(member);
  if (record === undefined || primary === undefined || shown.timeline !== primary.timeline) return false;
  if (primary.record === record) return true;
  const replayed = record.positions.find(({ kind }) => kind === 'replayed')?.bytes ?? -Infinity;
  return followed(record) === primary.timeline && hasReplayed(replayed, shown, primary);
}

export interface ProvenPrimary {
  readonly record: MemberRecord;
  readonly timeline: number;
}

/**
 * The one member that said yes as a primary after `since`, on the highest timeline. Two members that ever did so gave
 * the same number to different timelines: a position of one says nothing about the other.
 */
export function provenPrimary(
  pools: readonly PoolPolicy[],
  snapshot: Snapshot,
  since: Instant,
): ProvenPrimary | undefined {
  const { highestTimeline: timeline, highestTimelineBy } = snapshot;
  if (timeline === undefined || highestTimelineBy.length > 1) return undefined;
  const checks = pools.map(({ check }) => check).filter(({ family }) => family === 'primary');
  const isProven = (record: MemberRecord): boolean =>
    record.mismatch === undefined &&
    checks.some(({ text }) => {
      const check = record.checks.get(text);
      const at = check?.positiveAt ?? -Infinity;
      return check?.verdict.kind === 'positive' && check.positiveTimeline === timeline && at > since;
    });
  const [first, second] = [...snapshot.members.values()].filter(isProven);
  return first === undefined || second !== undefined ? undefined : { record: first, timeline };
}

/** The timeline that the member follows at least. Undefined: it is not known, or it is of another cluster. */
export function followed(record: MemberRecord | undefined): number | undefined {
  return record?.mismatch === undefined ? record?.status?.timeline : undefined;
}

/**
 * A standby shows the effect of a record just before it counts the record as replayed, and a record that drops files
 * takes its time. So the position that it named is not enough, unless the primary had no more WAL than that: a standby
 * replays nothing that the primary has not flushed.
 */
function hasReplayed(replayed: number, { wal, at }: SeenPosition, { record, timeline }: ProvenPrimary): boolean {
  if (wal.kind === 'primary') return replayed >= wal.written;
  if (replayed > wal.replayed) return true;
  return record.positions.some(
    (position) =>
      position.kind === 'location' && position.timeline === timeline && position.at > at && replayed >= position.bytes,
  );
}

/** A standby may show a commit before its primary does, which waits for standbys first. So positions prove nothing. */
function showsAllTransactions(shown: SeenPosition, reached: ReachedPosition): boolean {
  return reached.wal.transactions.allEndedBelow >= shown.wal.transactions.allVisibleBelow;
}
