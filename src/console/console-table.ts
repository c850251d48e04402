// A table of the console: columns that are known before there are rows, how each is filled from one row's object, and
// how those objects are read.
import type { BranchesDocument } from '../documents/branches-document.ts';
import type { SessionsDocument } from '../documents/sessions-document.ts';
import type { PoolStatusDocument, StatusDocument } from '../documents/status-document.ts';
import type { RowColumn, Value } from '../wire/messages/server-messages.ts';

/** One value of the configuration, as an operator writes it. */
export interface SettingRow {
  /** `hold.client_timeout` */
  readonly key: string;
  readonly value: string;
  /** Null: it has none, or depends on other keys. */
  readonly default: string | null;
  /** A reload changes it. */
  readonly changeable: boolean;
}

/** The sources of everything that is shown. Each is called for the statement that needs it. */
export interface ConsoleSources {
  readonly version: string;
  readonly status: () => Promise<StatusDocument>;
  /** The oldest sessions, up to a limit. */
  readonly sessions: () => Promise<SessionsDocument>;
  /** Undefined: none are configured. */
  readonly branches: () => Promise<BranchesDocument | undefined>;
  readonly settings: () => Promise<readonly SettingRow[]>;
}

interface Table<Row> {
  readonly rows: readonly Row[];
  /** How they are incomplete. */
  readonly gaps?: readonly string[];
}

export interface Show {
  /** For SHOW HELP. */
  readonly about: string;
  readonly columns: readonly RowColumn[];
  /** Only for clients that logged in with the token. */
  readonly needsToken: boolean;
  /** `notice`: for the client, beside the rows. */
  readonly read: (
    sources: ConsoleSources,
  ) => Promise<{ readonly rows: readonly (readonly Value[])[]; readonly notice?: string }>;
}

export interface ColumnOf<Row> extends RowColumn {
  readonly of: (row: Row) => Value;
}

export function showOf<Row>(
  about: string,
  columns: readonly ColumnOf<Row>[],
  read: (sources: ConsoleSources) => Table<Row> | Promise<Table<Row>>,
  needsToken = false,
): Show {
  return {
    about,
    columns,
    needsToken,
    read: async (sources) => {
      const { rows, gaps = [] } = await read(sources);
      const values = rows.map((row) => columns.map(({ of }) => of(row)));
      return gaps.length === 0 ? { rows: values } : { rows: values, notice: gaps.join('; ') };
    },
  };
}

/** A row for each pool. */
export function ofPools(about: string, columns: readonly ColumnOf<PoolStatusDocument>[]): Show {
  return showOf(about, columns, async ({ status }) => ({ rows: (await status()).pools }));
}

export function silentText(workers: readonly number[]): readonly string[] {
  return workers.length === 0 ? [] : [`workers that do not answer, with sessions of their own: ${workers.join(', ')}`];
}

/** Columns of one type. A boolean is `yes` or `no`, as PgBouncer has it. */
function columnsOf(type: RowColumn['type']) {
  return <Row>(columns: Readonly<Record<string, (row: Row) => Value | boolean>>): readonly ColumnOf<Row>[] =>
    Object.entries(columns).map(([name, fill]) => ({
      name,
      type,
      of: (row) => {
        const value = fill(row);
        return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;
      },
    }));
}

export const text = columnsOf('text');
export const int4 = columnsOf('int4');
export const int8 = columnsOf('int8');
export const numeric = columnsOf('numeric');

/** For columns that have one value in every row. `names`: `sv_idle sv_used`. */
export function always<Fixed extends Value>(names: string, value: Fixed): Readonly<Record<string, () => Fixed>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, () => value]));
}
