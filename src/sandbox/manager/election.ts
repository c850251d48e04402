// Who may take a free leader lock: nobody who would lose what another reachable member has. Pure.
import type { ClusterSettings, ClusterView, HistoryEntry, Tags } from './view.ts';

/** What another member's node status document said, or that it said nothing in time. */
export type PeerAnswer =
  | { readonly name: string; readonly kind: 'silent' }
  | {
      readonly name: string;
      readonly kind: 'answered';
      /** Runs as primary, with the lock or without. */
      readonly isPrimary: boolean;
      /** Of the WAL it has, received or replayed; undefined when its PostgreSQL does not say. */
      readonly position: number | undefined;
      readonly isNoFailover: boolean;
    };

export interface Contest {
  readonly me: string;
  readonly position: number;
  readonly tags: Tags;
  readonly settings: ClusterSettings;
  readonly cluster: ClusterView;
  readonly others: readonly PeerAnswer[];
}

/** Why this member has to leave the lock to others; undefined when it may try to get it. */
export function whyNot(contest: Contest): string | undefined {
  const { position, settings, cluster, others } = contest;
  if (isNoFailover(contest.tags)) return 'it has the tag nofailover';
  const lag = (cluster.leaderPosition ?? 0) - position;
  if (lag > settings.maximumLagOnFailover) return `it lags ${lag} bytes behind the last leader`;
  for (const other of others) {
    if (other.kind === 'silent') continue;
    if (other.isPrimary) return `${other.name} is still a primary`;
    if (!other.isNoFailover && (other.position ?? 0) > position) return `${other.name} has more of the WAL`;
  }
  return settings.synchronousMode === 'off' ? undefined : whyNotSynchronous(contest);
}

/** A commit is safe on every synchronous standby, and in quorum mode on all but this one at the worst (`ANY 1`). */
function whyNotSynchronous({ me, cluster, others }: Contest): string | undefined {
  if (cluster.synchronous.length > 0) {
    return cluster.synchronous.includes(me) ? undefined : 'it is not a synchronous standby';
  }
  if (cluster.quorum.length === 0) return undefined;
  const voters = others.filter((other) => other.kind === 'answered' && cluster.quorum.includes(other.name)).length;
  const needed = cluster.quorum.length - 1;
  const votes = voters + (cluster.quorum.includes(me) ? 0 : -1);
  return votes >= needed ? undefined : `it hears ${voters} of the quorum's other members and needs ${needed}`;
}

/** Truth as Python sees it, which is how Patroni reads this tag. */
export function isNoFailover(tags: Tags): boolean {
  return Boolean(tags['nofailover']);
}

/** Its WAL went on beyond the point where the leader's history left that timeline. */
export function hasDiverged(
  own: { readonly timeline: number | undefined; readonly position: number },
  history: readonly HistoryEntry[],
): boolean {
  return history.some((entry) => entry.timeline === own.timeline && own.position > entry.endedAt);
}
