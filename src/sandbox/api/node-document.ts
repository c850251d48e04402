// The node status document: the body of /manager (/patroni) and of the health checks. The keys have Patroni's order.
// Unknown values are absent, and indicators are present only when true. Pure.
import { present } from '../../patroni/fields.ts';
import { settingsOf } from '../manager/cluster-settings.ts';
import type { JsonObject, MemberView, WalView } from '../manager/view.ts';
import type { ApiDialect } from './dialect.ts';

/** The manager's own part of the document. */
export interface ManagerIdentity {
  readonly version: string;
  readonly scope: string;
  readonly name: string;
}

export function nodeDocument(seen: MemberView, about: ManagerIdentity, dialect: ApiDialect): JsonObject {
  const member = seen.wal === undefined && dialect.showsLastKnown ? { ...seen, ...seen.lastKnown } : seen;
  const { role, syncRole, wal, tags, replication, pendingRestart, scheduledRestart } = member;
  const isReplica = role === 'replica';
  const isPendingRestart = Object.keys(pendingRestart).length > 0;
  return present({
    state: member.state,
    postmaster_start_time: member.postmasterStartTime,
    role,
    server_version: member.serverVersion,
    xlog: wal === undefined ? undefined : positions(wal, dialect),
    sync_standby: onlyTrue(isReplica && syncRole === 'synchronous'),
    quorum_standby: onlyTrue(isReplica && syncRole === 'quorum'),
    timeline: member.timeline,
    replication_state: member.replicationState,
    replication: dialect.showsEmpty || replication.length > 0 ? replication.map((row) => ({ ...row })) : undefined,
    ...indicators(member, dialect),
    dcs_last_seen: member.storeSeenAt,
    tags: dialect.showsEmpty || Object.keys(tags).length > 0 ? tags : undefined,
    database_system_identifier: member.systemIdentifier,
    pending_restart: onlyTrue(isPendingRestart),
    pending_restart_reason: isPendingRestart ? pendingRestart : undefined,
    [dialect.name]: { ...about },
    scheduled_restart: scheduledRestart && present({ ...scheduledRestart, postmaster_start_time: undefined }),
  });
}

/** The three indicators, present only when the cluster is not in its ordinary state. */
function indicators(member: MemberView, { name }: ApiDialect): JsonObject {
  const { cluster, isFailsafeActive } = member;
  // Patroni without its store knows no lock. In failsafe mode it shows both indicators.
  const isUnlocked = cluster?.leader === undefined || (name === 'patroni' && isFailsafeActive);
  return present({
    pause: onlyTrue(settingsOf(member).isPaused),
    cluster_unlocked: onlyTrue(isUnlocked),
    failsafe_mode_is_active: onlyTrue(isFailsafeActive),
  });
}

function positions(wal: WalView, { hasLocationAlways }: ApiDialect): JsonObject {
  if (wal.kind === 'primary') return { location: wal.location };
  return {
    ...(hasLocationAlways ? { location: Math.max(wal.received, wal.replayed) } : {}),
    received_location: wal.received,
    replayed_location: wal.replayed,
    replayed_timestamp: wal.replayedAt ?? null,
    paused: wal.isPaused,
  };
}

export function onlyTrue(value: boolean): true | undefined {
  return value ? true : undefined;
}
