// A table of the console: columns that are known before there are rows, and how each is filled from one row's object.
import type { RowColumn, Value } from '../wire/messages/server-messages.ts';

export interface ColumnOf<Row> extends RowColumn {
  readonly of: (row: Row) => Value;
}

export interface Table {
  readonly columns: readonly RowColumn[];
  readonly rows: readonly (readonly Value[])[];
  /** For the client, beside the rows: how they are incomplete. */
  readonly notice?: string;
}

type Fill<Row> = (row: Row) => Value | boolean;

/** Columns of one type. A boolean is `yes` or `no`, as PgBouncer has it. */
function columnsOf<Row>(
  type: RowColumn['type'],
  columns: Readonly<Record<string, Fill<Row>>>,
): readonly ColumnOf<Row>[] {
  return Object.entries(columns).map(([name, fill]) => ({
    name,
    type,
    of: (row) => {
      const value = fill(row);
      return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;
    },
  }));
}

export function text<Row>(columns: Readonly<Record<string, Fill<Row>>>): readonly ColumnOf<Row>[] {
  return columnsOf('text', columns);
}

export function int4<Row>(columns: Readonly<Record<string, Fill<Row>>>): readonly ColumnOf<Row>[] {
  return columnsOf('int4', columns);
}

export function int8<Row>(columns: Readonly<Record<string, Fill<Row>>>): readonly ColumnOf<Row>[] {
  return columnsOf('int8', columns);
}

export function numeric<Row>(columns: Readonly<Record<string, Fill<Row>>>): readonly ColumnOf<Row>[] {
  return columnsOf('numeric', columns);
}

export function tableOf<Row>(columns: readonly ColumnOf<Row>[], rows: readonly Row[]): Table {
  return { columns, rows: rows.map((row) => columns.map(({ of }) => of(row))) };
}
