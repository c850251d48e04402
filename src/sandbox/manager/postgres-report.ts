// PostgreSQL's report of itself, in one statement: role, positions, timeline, replication in both directions,
// parameters that wait for a restart. Only this file queries it; others read the result.
import type { LastKnown, PendingRestart, ReplicationView, WalView } from './view.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';

export interface PostgresReport extends LastKnown {
  readonly isInRecovery: boolean;
  readonly isStreaming: boolean;
  readonly replication: readonly ReplicationView[];
  readonly pendingRestart: PendingRestart;
}

export type ReportOutcome =
  | { readonly kind: 'report'; readonly report: PostgresReport }
  /** `hanging`: no answer within the deadline. `failed`: an error, or no connection. */
  | { readonly kind: 'hanging' | 'failed' };

/** A standby that does not stream shows its timeline only by its files: there is no function for it. */
const TIMELINE = `case
  when not pg_is_in_recovery() then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
  else coalesce(
    (select received_tli from pg_stat_wal_receiver where status = 'streaming'),
    (select max(('x' || substr(name, 1, 8))::bit(32)::int) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'),
    (select timeline_id from pg_control_checkpoint()))
  end`;

const REPLICATION = `(select coalesce(json_agg(json_build_object(
    'usename', usename, 'application_name', application_name, 'client_addr', coalesce(host(client_addr), ''),
    'state', state, 'sync_state', sync_state, 'sync_priority', sync_priority)
    order by application_name), '[]'::json) from pg_stat_replication)`;

/** The new value is the one in the files, or the default when no file names it any more. */
const PENDING_RESTART = `(select coalesce(json_object_agg(s.name, json_build_object(
    'old_value', current_setting(s.name), 'new_value', coalesce(
      (select f.setting from pg_file_settings f where f.name = s.name order by f.seqno desc limit 1), s.boot_val))),
    '{}'::json)
    from pg_settings s where s.pending_restart)`;

const STATEMENT = {
  name: 'pointsman-sandbox-report',
  text: `select
  pg_is_in_recovery() as "isInRecovery",
  to_char(pg_postmaster_start_time(), 'YYYY-MM-DD HH24:MI:SS.USTZH:TZM') as "postmasterStartTime",
  current_setting('server_version_num')::int as "serverVersion",
  ${TIMELINE} as timeline,
  case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::text end as location,
  pg_wal_lsn_diff(coalesce(pg_last_wal_receive_lsn(), '0/0'), '0/0')::text as received,
  pg_wal_lsn_diff(coalesce(pg_last_wal_replay_lsn(), '0/0'), '0/0')::text as replayed,
  to_char(pg_last_xact_replay_timestamp(), 'YYYY-MM-DD HH24:MI:SS.USTZH:TZM') as "replayedAt",
  case when pg_is_in_recovery() then pg_is_wal_replay_paused() end as "isPaused",
  exists (select from pg_stat_wal_receiver where status = 'streaming') as "isStreaming",
  ${REPLICATION} as replication,
  ${PENDING_RESTART} as "pendingRestart"`,
};

interface ReportRow extends Omit<PostgresReport, 'wal'> {
  readonly location: string | null;
  readonly received: string;
  readonly replayed: string;
  readonly replayedAt: string | null;
  readonly isPaused: boolean | null;
}

/** Never rejects. */
export async function reportOf(server: PostgresServer, deadlineMs: number): Promise<ReportOutcome> {
  const startedAt = performance.now();
  try {
    const [row] = await server.query<ReportRow>(STATEMENT, [], deadlineMs);
    return row === undefined ? { kind: 'failed' } : { kind: 'report', report: toReport(row) };
  } catch {
    return { kind: performance.now() - startedAt >= deadlineMs && server.isAlive() ? 'hanging' : 'failed' };
  }
}

function toReport({ location, received, replayed, replayedAt, isPaused, ...report }: ReportRow): PostgresReport {
  if (location !== null) return { ...report, wal: { kind: 'primary', location: Number(location) } };
  const wal: WalView = {
    kind: 'replica',
    // After a start nothing has been received yet, and all existing WAL was replayed.
    received: Math.max(Number(received), Number(replayed)),
    replayed: Number(replayed),
    replayedAt: replayedAt ?? undefined,
    isPaused: isPaused ?? false,
  };
  return { ...report, wal };
}

/** The end of its WAL, received or written. */
export function positionOf(wal: WalView): number {
  return wal.kind === 'primary' ? wal.location : wal.received;
}
