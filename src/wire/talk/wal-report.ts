// A server's own words about its WAL, on a session's connection: a part of an SQL statement, and the reader of its
// value. Servers are compared by them when a session moves, so that none goes back in time.
import type { WalReport } from '../../model/moves.ts';

/** The header of a page of WAL, and that of the first page of a segment. Bytes; constant since PostgreSQL 9.3. */
const PAGE_HEADER = 24;
const FIRST_PAGE_HEADER = 40;

const bytes = (position: string): string => `pg_catalog.pg_wal_lsn_diff(${position}, '0/0')::pg_catalog.text`;
const IDS = `pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot())::pg_catalog.text,
    'below', pg_catalog.txid_snapshot_xmax(pg_catalog.txid_current_snapshot())::pg_catalog.text`;

/**
 * An SQL expression of type json. It takes no setting of the session into account. Functions of a primary fail on a
 * standby, so CASE keeps them apart.
 */
export const WAL_EXPRESSION = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.json_build_object(
    'replayed', ${bytes('pg_catalog.pg_last_wal_replay_lsn()')},
    'ended', ${IDS})
  ELSE pg_catalog.json_build_object(
    'written', ${bytes('pg_catalog.pg_current_wal_insert_lsn()')},
    'file', pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()),
    'page', pg_catalog.current_setting('wal_block_size'),
    'segment', pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size'))::pg_catalog.text,
    'recovered', ${bytes('pg_catalog.pg_last_wal_replay_lsn()')},
    'ended', ${IDS}) END`;

/** The value of the expression as text. Undefined: not understood, or a position that is not known. */
export function parsedWalReport(text: string | undefined): WalReport | undefined {
  try {
    return readWalReport(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

/** The value of the expression. Undefined: not understood, or a position that is not known. */
export function readWalReport(value: unknown): WalReport | undefined {
  const allEndedBelow = numberIn(value, 'ended');
  const allVisibleBelow = numberIn(value, 'below');
  if (allEndedBelow === undefined || allVisibleBelow === undefined) return undefined;
  const transactions = { allEndedBelow, allVisibleBelow };
  const replayed = numberIn(value, 'replayed');
  if (replayed !== undefined) return { kind: 'standby', replayed, transactions };
  const [position, page, segment] = ['written', 'page', 'segment'].map((name) => numberIn(value, name));
  const timeline = timelineOf(fieldOf(value, 'file'));
  if (position === undefined || page === undefined || segment === undefined || timeline === undefined) {
    return undefined;
  }
  const written = endOfRecords(position, page, segment);
  return { kind: 'primary', timeline, written, recovered: numberIn(value, 'recovered'), transactions };
}

/** PostgreSQL names the place of the next record, which may be behind the header of a page that is empty so far. */
export function endOfRecords(position: number, page: number, segment: number): number {
  if (position % segment === FIRST_PAGE_HEADER) return position - FIRST_PAGE_HEADER;
  return position % page === PAGE_HEADER ? position - PAGE_HEADER : position;
}

/** The name of a WAL file begins with its timeline: eight hexadecimal digits. */
export function timelineOf(file: unknown): number | undefined {
  const [, digits] = (typeof file === 'string' && /^([0-9A-F]{8})[0-9A-F]{16}$/.exec(file)) || [];
  const timeline = digits === undefined ? 0 : Number.parseInt(digits, 16);
  return timeline === 0 ? undefined : timeline;
}

function numberIn(value: unknown, name: string): number | undefined {
  const field = fieldOf(value, name);
  const number = typeof field === 'string' && /^\d+$/.test(field) ? Number(field) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
