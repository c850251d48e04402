// The node status document: the body of /manager (/patroni) and of the health checks. The keys have Patroni's order.
// Unknown values are absent, and indicators are present only when true. Pure.
import { present } from '../../patroni/fields.ts';
import { readSettings } from '../manager/cluster-settings.ts';
import type { JsonObject, MemberView, ScheduledRestart, WalView } from '../manager/view.ts';
import type { ApiDialect } from './dialect.ts';

/** The manager's own part of the document. */
export interface ManagerIdentity {
  readonly version: string;
  readonly scope: string;
  readonly name: string;
}

export function nodeDocument(seen: MemberView, about: ManagerIdentity, dialect: ApiDialect): JsonObject {
  const member = seen.wal === undefined && dialect.showsLastKnown ? { ...seen, ...seen.lastKnown } : seen;
  const { role, syncRole, wal, tags, pendingRestart, scheduledRestart } = member;
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
    replication: replication(member, dialect),
    ...indicators(member, dialect),
    dcs_last_seen: member.storeSeenAt,
    tags: dialect.showsEmpty || Object.keys(tags).length > 0 ? tags : undefined,
    database_system_identifier: member.systemIdentifier,
    pending_restart: onlyTrue(isPendingRestart),
    pending_restart_reason: isPendingRestart ? pendingRestartReason(pendingRestart) : undefined,
    [dialect.documentKey]: { ...about },
    scheduled_restart: scheduledRestart === undefined ? undefined : scheduledRestartFields(scheduledRestart),
  });
}

/** The three indicators, present only when the cluster is not in its ordinary state. */
function indicators(member: MemberView, { name }: ApiDialect): JsonObject {
  const { cluster, isFailsafeActive } = member;
  // Patroni without its store knows no lock. In failsafe mode it shows both indicators.
  const isUnlocked = cluster?.leader === undefined || (name === 'patroni' && isFailsafeActive);
  return present({
    pause: onlyTrue(readSettings(cluster?.config ?? {}).isPaused),
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

function replication({ replication: rows }: MemberView, dialect: ApiDialect): readonly JsonObject[] | undefined {
  if (rows.length === 0 && !dialect.showsEmpty) return undefined;
  return rows.map((row) => ({
    usename: row.usename,
    application_name: row.applicationName,
    client_addr: row.clientAddress,
    state: row.state,
    sync_state: row.syncState,
    sync_priority: row.syncPriority,
  }));
}

export function pendingRestartReason(pending: MemberView['pendingRestart']): JsonObject {
  const entries = Object.entries(pending).map(
    ([name, { oldValue, newValue }]) => [name, { old_value: oldValue, new_value: newValue }] as const,
  );
  return Object.fromEntries(entries);
}

export function scheduledRestartFields(restart: ScheduledRestart): JsonObject {
  return present({
    restart_pending: restart.isPendingOnly,
    role: restart.role,
    postgres_version: restart.postgresVersion,
    timeout: restart.timeoutSeconds,
    schedule: restart.schedule,
  });
}

export function onlyTrue(value: boolean): true | undefined {
  return value ? true : undefined;
}
