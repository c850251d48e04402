// The documents that come from the store: the cluster document (GET /cluster) and the timeline history (GET /history).
// Pure.
import { formatLsn } from '../../model/lsn.ts';
import { present } from '../../patroni/fields.ts';
import { readSettings } from '../manager/cluster-settings.ts';
import type { ClusterView, TimelineHistoryEntry, JsonObject, JsonValue, PublishedMember } from '../manager/view.ts';
import type { ApiDialect } from './dialect.ts';
import { onlyTrue } from './node-document.ts';

export function clusterDocument(cluster: ClusterView, dialect: ApiDialect): JsonObject {
  const members = cluster.members.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { switchover } = cluster;
  const isScheduled = switchover?.at !== undefined;
  return present({
    members: members.map((member) => memberEntry(member, cluster, dialect)),
    pause: onlyTrue(readSettings(cluster.config).isPaused),
    scheduled_switchover: isScheduled
      ? present({ at: switchover.at, from: switchover.from, to: switchover.to })
      : undefined,
    scope: cluster.scope,
  });
}

function memberEntry(member: PublishedMember, cluster: ClusterView, dialect: ApiDialect): JsonObject {
  const { showsLastKnown } = dialect;
  const { name, tags, pendingRestart, scheduledRestart } = member;
  const isPendingRestart = Object.keys(pendingRestart).length > 0;
  return present({
    name,
    role: clusterRole(name, cluster),
    state: member.state,
    api_url: new URL(`/${dialect.name}`, member.apiUrl).href,
    host: member.host,
    port: member.port,
    timeline: member.timeline ?? (showsLastKnown ? member.lastKnown?.timeline : undefined),
    pending_restart: onlyTrue(isPendingRestart),
    pending_restart_reason: isPendingRestart ? pendingRestart : undefined,
    scheduled_restart: scheduledRestart && present(scheduledRestart),
    tags: Object.keys(tags).length > 0 ? tags : undefined,
    ...(name === cluster.leader ? {} : lags(member, cluster.leaderPosition, dialect)),
  });
}

/** The management API writes `standby leader`. Patroni writes `standby_leader`, and its tools read that. */
function clusterRole(name: string, { leader, config, synchronous, quorum }: ClusterView): string {
  if (name === leader) return readSettings(config).standbyCluster === undefined ? 'leader' : 'standby_leader';
  if (synchronous.includes(name)) return 'sync_standby';
  return quorum.includes(name) ? 'quorum_standby' : 'replica';
}

/** The management API: "Replicas only". The field without a prefix is the higher of the two positions. */
function lags(member: PublishedMember, leaderPosition: number | undefined, { showsLastKnown }: ApiDialect): JsonObject {
  const known = showsLastKnown ? lastPositions(member) : member;
  const { received, replayed } = known;
  const furthest = Math.max(received ?? 0, replayed ?? 0);
  const fields = {
    ...lag('receive_', received, leaderPosition),
    ...lag('replay_', replayed, leaderPosition),
    ...lag('', furthest === 0 ? undefined : furthest, leaderPosition),
  };
  if (!showsLastKnown) return fields;
  // The management API has numbers and positions only, so an unknown value is left out.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== 'unknown'));
}

/** A former primary wrote its own WAL, so it has received and replayed all of it. */
function lastPositions({ received, replayed, lastKnown }: PublishedMember): {
  readonly received: number | undefined;
  readonly replayed: number | undefined;
} {
  if (received !== undefined || lastKnown === undefined) return { received, replayed };
  const { wal } = lastKnown;
  return wal.kind === 'replica' ? wal : { received: wal.location, replayed: wal.location };
}

function lag(prefix: string, position: number | undefined, leaderPosition: number | undefined): JsonObject {
  const isKnown = position !== undefined && leaderPosition !== undefined;
  return {
    [`${prefix}lag`]: isKnown ? Math.max(0, leaderPosition - position) : 'unknown',
    [`${prefix}lsn`]: position === undefined ? 'unknown' : formatLsn(position),
  };
}

export function historyDocument(history: readonly TimelineHistoryEntry[]): readonly JsonValue[] {
  return history.map(({ timeline, endedAt, reason, createdAt, newLeader }) => {
    const entry = [timeline, endedAt, reason, createdAt];
    return newLeader === '' ? entry : [...entry, newLeader];
  });
}
