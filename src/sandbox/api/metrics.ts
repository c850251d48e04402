// The metrics of one member (GET /metrics), with Patroni's names. They are computed for each scrape, so each scrape has
// a registry of its own.
import { Gauge, Registry } from 'prom-client';
import type { MemberView } from '../manager/view.ts';
import { settingsOf } from '../manager/cluster-settings.ts';
import type { ApiDialect } from './dialect.ts';
import type { ManagerIdentity } from './node-document.ts';

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

export async function metricsText(
  member: MemberView,
  about: ManagerIdentity,
  { metricsPrefix }: ApiDialect,
): Promise<{ readonly type: string; readonly text: string }> {
  const registry = new Registry();
  const labels = { scope: about.scope, name: about.name };
  for (const { name, help, value } of [...ofServer(member), ...ofWal(member), ...ofCluster(member, about)]) {
    const gauge = new Gauge({
      name: `${metricsPrefix}_${name}`,
      help,
      labelNames: ['scope', 'name'],
      registers: [registry],
    });
    gauge.set(labels, value);
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
    metric('postgres_running', 'Value is 1 if Postgres is running, 0 otherwise.', state === 'running'),
    metric('postmaster_start_time', 'Epoch seconds since Postgres started.', epochSeconds(postmasterStartTime)),
    metric('primary', 'Value is 1 if this node is the primary, 0 otherwise.', role === 'primary'),
    metric('standby_leader', 'Value is 1 if this node is the standby_leader, 0 otherwise.', role === 'standby_leader'),
    metric('replica', 'Value is 1 if this node is a replica, 0 otherwise.', isReplica),
    metric('sync_standby', 'Value is 1 if this node is a sync standby.', isReplica && syncRole === 'synchronous'),
    metric('quorum_standby', 'Value is 1 if this node is a quorum standby.', isReplica && syncRole === 'quorum'),
    metric('postgres_server_version', 'Version of Postgres (if running), 0 otherwise.', serverVersion ?? 0),
    metric('postgres_timeline', 'Postgres timeline of this node (if running), 0 otherwise.', timeline ?? 0),
  ];
}

function ofWal({ wal, replicationState }: MemberView): readonly Metric[] {
  const location = wal?.kind === 'primary' ? wal.location : 0;
  const replica = wal?.kind === 'replica' ? wal : undefined;
  return [
    metric('xlog_location', 'Current location of the WAL in bytes, 0 if this node is not the primary.', location),
    metric('xlog_received_location', 'Location of the received WAL, 0 if not a replica.', replica?.received ?? 0),
    metric('xlog_replayed_location', 'Location of the replayed WAL, 0 if not a replica.', replica?.replayed ?? 0),
    metric(
      'xlog_replayed_timestamp',
      'Timestamp of the last replayed transaction, 0 if null.',
      epochSeconds(replica?.replayedAt),
    ),
    metric('xlog_paused', 'Value is 1 if WAL replay is paused, 0 otherwise.', replica?.isPaused ?? false),
    metric('postgres_streaming', 'Value is 1 if Postgres is streaming, 0 otherwise.', replicationState === 'streaming'),
    metric(
      'postgres_in_archive_recovery',
      'Value is 1 if Postgres is replicating from archive, 0 otherwise.',
      replicationState === 'in archive recovery',
    ),
  ];
}

function ofCluster(member: MemberView, { version }: ManagerIdentity): readonly Metric[] {
  const { cluster } = member;
  return [
    metric('version', 'Semver of the manager without periods.', packedVersion(version)),
    metric('cluster_unlocked', 'Value is 1 if the cluster is unlocked, 0 if locked.', cluster?.leader === undefined),
    metric('failsafe_mode_is_active', 'Value is 1 if failsafe mode is active, 0 if not.', member.isFailsafeActive),
    metric('dcs_last_seen', 'Epoch timestamp when the store was last contacted successfully.', member.storeSeenAt),
    metric('pending_restart', 'Value is 1 if the node needs a restart.', Object.keys(member.pendingRestart).length > 0),
    metric('is_paused', 'Value is 1 if auto failover is disabled.', settingsOf(member).isPaused),
  ];
}

function metric(name: string, help: string, value: number | boolean): Metric {
  return { name, help, value: Number(value) };
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
