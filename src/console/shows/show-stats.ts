// SHOW STATS and STATS_TOTALS. Pointsman relays bytes and does not count statements: those columns of PgBouncer, and
// its averages, are NULL rather than 0, so that no rate or alert is computed from them.
import type { PoolStatusDocument, StatusDocument } from '../../documents/status-document.ts';
import { numeric, tableOf, text, type ColumnOf, type Table } from '../console-table.ts';

type StatFill = (pool: PoolStatusDocument) => number | null;

const unknown: StatFill = () => null;
const received: StatFill = ({ sessions }) => sessions?.to_backend_bytes ?? null;
const sent: StatFill = ({ sessions }) => sessions?.to_client_bytes ?? null;
const database = text<PoolStatusDocument>({ database: ({ name }) => name });
/** Ours, after PgBouncer's. */
const connections = numeric<PoolStatusDocument>({
  accepted: ({ sessions }) => sessions?.accepted ?? null,
  closed: ({ sessions }) => sessions?.closed ?? null,
});

export const statsColumns: readonly ColumnOf<PoolStatusDocument>[] = [
  ...database,
  ...numeric<PoolStatusDocument>({
    total_server_assignment_count: unknown,
    total_xact_count: unknown,
    total_query_count: unknown,
    total_received: received,
    total_sent: sent,
    total_xact_time: unknown,
    total_query_time: unknown,
    total_wait_time: unknown,
    total_client_parse_count: unknown,
    total_server_parse_count: unknown,
    total_bind_count: unknown,
    total_client_login_count: unknown,
    avg_server_assignment_count: unknown,
    avg_xact_count: unknown,
    avg_query_count: unknown,
    avg_recv: unknown,
    avg_sent: unknown,
    avg_xact_time: unknown,
    avg_query_time: unknown,
    avg_wait_time: unknown,
    avg_client_parse_count: unknown,
    avg_server_parse_count: unknown,
    avg_bind_count: unknown,
    avg_client_login_count: unknown,
  }),
  ...connections,
];

export const totalsColumns: readonly ColumnOf<PoolStatusDocument>[] = [
  ...database,
  ...numeric<PoolStatusDocument>({
    server_assignment_count: unknown,
    xact_count: unknown,
    query_count: unknown,
    bytes_received: received,
    bytes_sent: sent,
    xact_time: unknown,
    query_time: unknown,
    wait_time: unknown,
    client_parse_count: unknown,
    server_parse_count: unknown,
    bind_count: unknown,
    client_login_count: unknown,
  }),
  ...connections,
];

export function showStats({ pools }: StatusDocument): Table {
  return tableOf(statsColumns, pools);
}

export function showTotals({ pools }: StatusDocument): Table {
  return tableOf(totalsColumns, pools);
}
