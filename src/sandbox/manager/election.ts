// Decides which member may take a free leader lock: none that would lose WAL that another reachable member has. Pure.
import type { ClusterSettings, ClusterView, TimelineHistoryEntry, Tags } from './view.ts';

/** Another member's node status document, or no answer in time. */
export type PeerAnswer =
  | { readonly name: string; readonly kind: 'silent' }
  | {
      readonly name: string;
      readonly kind: 'answered';
      /** The member runs as primary, with or without the lock. */
      readonly isPrimary: boolean;
      /** The end of the WAL that it has received or replayed; undefined when its PostgreSQL does not report it. */
      readonly position: number | undefined;
      readonly isNoFailover: boolean;
    };

export interface Contest {
  readonly me: string;
  /** Asked for after the answers of the others. */
  readonly position: number;
  readonly tags: Tags;
  readonly settings: ClusterSettings;
  readonly cluster: ClusterView;
  readonly others: readonly PeerAnswer[];
}

/** The reason why this member must leave the lock to others; undefined when it may try to get it. */
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

/**
 * A commit is on every synchronous standby. In quorum mode (`ANY 1`) it may be on a single voter, so every voter must
 * take part in the comparison.
 */
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

/** True by Python's rules, which is how Patroni reads this tag. */
export function isNoFailover(tags: Tags): boolean {
  return Boolean(tags['nofailover']);
}

/** Its WAL continued after the point where the leader's history left that timeline. */
export function hasDiverged(
  own: { readonly timeline: number | undefined; readonly position: number },
  history: readonly TimelineHistoryEntry[],
): boolean {
  return history.some((entry) => entry.timeline === own.timeline && own.position > entry.endedAt);
}
