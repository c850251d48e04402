// The metrics of one member (GET /metrics), with Patroni's names. They are computed for each scrape, so each scrape has
// a registry of its own.
import { Gauge, Registry } from 'prom-client';
import type { MemberView } from '../manager/view.ts';
import { settingsOf } from '../manager/cluster-settings.ts';
import type { ApiDialect } from './dialect.ts';
import type { ManagerIdentity } from './node-document.ts';

type Metric = readonly [name: string, help: string, value: number | boolean];

export async function metricsText(
  member: MemberView,
  about: ManagerIdentity,
  dialect: ApiDialect,
): Promise<{ readonly type: string; readonly text: string }> {
  const registry = new Registry();
  const labels = { scope: about.scope, name: about.name };
  for (const [name, help, value] of [...ofServer(member), ...ofWal(member), ...ofCluster(member, about)]) {
    const gauge = new Gauge({
      name: `${dialect.name}_${name}`,
      help,
      labelNames: ['scope', 'name'],
      registers: [registry],
    });
    gauge.set(labels, Number(value));
  }
  // prom-client separates metrics with empty lines, and simple parsers reject those.
  return { type: registry.contentType, text: (await registry.metrics()).replaceAll('\n\n', '\n') };
}

function ofServer({
  state,
  role,
  syncRole,
  postmasterStartTime,
  serverVersion,
  timeline,
}: MemberView): readonly Metric[] {
  const isReplica = role === 'replica';
  return [
    ['postgres_running', 'Value is 1 if Postgres is running, 0 otherwise.', state === 'running'],
    ['postmaster_start_time', 'Epoch seconds since Postgres started.', epochSeconds(postmasterStartTime)],
    ['primary', 'Value is 1 if this node is the primary, 0 otherwise.', role === 'primary'],
    ['standby_leader', 'Value is 1 if this node is the standby_leader, 0 otherwise.', role === 'standby_leader'],
    ['replica', 'Value is 1 if this node is a replica, 0 otherwise.', isReplica],
    ['sync_standby', 'Value is 1 if this node is a sync standby.', isReplica && syncRole === 'synchronous'],
    ['quorum_standby', 'Value is 1 if this node is a quorum standby.', isReplica && syncRole === 'quorum'],
    ['postgres_server_version', 'Version of Postgres (if running), 0 otherwise.', serverVersion ?? 0],
    ['postgres_timeline', 'Postgres timeline of this node (if running), 0 otherwise.', timeline ?? 0],
  ];
}

function ofWal({ wal, replicationState }: MemberView): readonly Metric[] {
  const location = wal?.kind === 'primary' ? wal.location : 0;
  const replica = wal?.kind === 'replica' ? wal : undefined;
  return [
    ['xlog_location', 'Current location of the WAL in bytes, 0 if this node is not the primary.', location],
    ['xlog_received_location', 'Location of the received WAL, 0 if not a replica.', replica?.received ?? 0],
    ['xlog_replayed_location', 'Location of the replayed WAL, 0 if not a replica.', replica?.replayed ?? 0],
    [
      'xlog_replayed_timestamp',
      'Timestamp of the last replayed transaction, 0 if null.',
      epochSeconds(replica?.replayedAt),
    ],
    ['xlog_paused', 'Value is 1 if WAL replay is paused, 0 otherwise.', replica?.isPaused ?? false],
    ['postgres_streaming', 'Value is 1 if Postgres is streaming, 0 otherwise.', replicationState === 'streaming'],
    [
      'postgres_in_archive_recovery',
      'Value is 1 if Postgres is replicating from archive, 0 otherwise.',
      replicationState === 'in archive recovery',
    ],
  ];
}

function ofCluster(member: MemberView, { version }: ManagerIdentity): readonly Metric[] {
  const { cluster } = member;
  return [
    ['version', 'Semver of the manager without periods.', packedVersion(version)],
    ['cluster_unlocked', 'Value is 1 if the cluster is unlocked, 0 if locked.', cluster?.leader === undefined],
    ['failsafe_mode_is_active', 'Value is 1 if failsafe mode is active, 0 if not.', member.isFailsafeActive],
    ['dcs_last_seen', 'Epoch timestamp when the store was last contacted successfully.', member.storeSeenAt],
    ['pending_restart', 'Value is 1 if the node needs a restart.', Object.keys(member.pendingRestart).length > 0],
    ['is_paused', 'Value is 1 if auto failover is disabled.', settingsOf(member).isPaused],
  ];
}

function epochSeconds(timestamp: string | undefined): number {
  const epochMs = timestamp === undefined ? 0 : Date.parse(timestamp);
  return Number.isNaN(epochMs) ? 0 : epochMs / 1000;
}

/** 2.0.12 is 20012. */
function packedVersion(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major * 10_000 + minor * 100 + patch;
}
