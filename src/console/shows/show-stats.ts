// SHOW STATS and STATS_TOTALS. Pointsman relays bytes and does not count statements: those columns of PgBouncer, and
// its averages, are NULL rather than 0, so that no rate or alert is computed from them.
import type { PoolStatusDocument } from '../../documents/status-document.ts';
import { always, numeric, ofPools, text, type Show } from '../console-table.ts';

type CountFill = (pool: PoolStatusDocument) => number | null;

const received: CountFill = ({ sessions }) => sessions?.to_backend_bytes ?? null;
const sent: CountFill = ({ sessions }) => sessions?.to_client_bytes ?? null;

export const STATS = statsOf('bytes and connections of each pool since the start', {
  ...always('total_server_assignment_count total_xact_count total_query_count', null),
  total_received: received,
  total_sent: sent,
  ...always('total_xact_time total_query_time total_wait_time total_client_parse_count', null),
  ...always('total_server_parse_count total_bind_count total_client_login_count', null),
  ...always('avg_server_assignment_count avg_xact_count avg_query_count avg_recv avg_sent avg_xact_time', null),
  ...always('avg_query_time avg_wait_time avg_client_parse_count avg_server_parse_count avg_bind_count', null),
  ...always('avg_client_login_count', null),
});

export const STATS_TOTALS = statsOf('the same without averages', {
  ...always('server_assignment_count xact_count query_count', null),
  bytes_received: received,
  bytes_sent: sent,
  ...always('xact_time query_time wait_time client_parse_count server_parse_count bind_count', null),
  ...always('client_login_count', null),
});

function statsOf(about: string, counts: Readonly<Record<string, CountFill>>): Show {
  return ofPools(about, [
    ...text<PoolStatusDocument>({ database: ({ name }) => name }),
    ...numeric<PoolStatusDocument>({
      ...counts,
      // Ours, after PgBouncer's.
      accepted: ({ sessions }) => sessions?.accepted ?? null,
      closed: ({ sessions }) => sessions?.closed ?? null,
    }),
  ]);
}
