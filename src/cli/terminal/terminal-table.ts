// Tables for a terminal, without borders. They fit its width: a column that wraps gets narrower, then optional columns
// are left out. A table that is still too wide stays so: no text is cut.
import { stripVTControlCharacters } from 'node:util';
import Table from 'cli-table3';
import type { CliIo } from '../io.ts';

export interface Column {
  /** If all titles are empty, the table has no title row. */
  readonly title: string;
  /** For numbers, sizes and ages. Default: left. */
  readonly align?: 'right';
  /** Long text wraps here, between words. At most one column of a table. */
  readonly wraps?: true;
  /** Left out of a table that is too wide: the highest number first. Default: the column stays. */
  readonly optional?: number;
}

/** The first columns of a table of members. */
export const MEMBER_COLUMNS: readonly Column[] = [
  { title: 'MEMBER' },
  { title: 'ROLE' },
  { title: 'STATE' },
  { title: 'TL', align: 'right' },
  { title: 'LAG', align: 'right' },
];

const DEFAULT_WIDTH = 80;
const GAP = 2;
/** A wrapping column keeps at least this, if optional columns can be left out instead. */
const LEAST_TEXT = 24;
const EDGES = ['top', 'bottom', 'mid', 'left', 'right'] as const;
const NO_BORDER = {
  ...Object.fromEntries(
    EDGES.flatMap((edge) => [edge, `${edge}-mid`, `${edge}-left`, `${edge}-right`].map((c) => [c, ''])),
  ),
  middle: ' '.repeat(GAP),
};

/** Columns of the terminal; without one, those in the variable COLUMNS, else 80. */
export function widthFor({ env, screen }: Pick<CliIo, 'env' | 'screen'>): number {
  const given = Number(env['COLUMNS']);
  return screen?.size().columns ?? (given > 0 ? given : DEFAULT_WIDTH);
}

/** Each row has a cell for each column. Cells may be painted. The text ends with a newline. */
export function tableText(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number = DEFAULT_WIDTH,
): string {
  const titles = columns.map(({ title }) => title);
  const lines = titles.some((title) => title !== '') ? [titles, ...rows] : rows;
  if (lines.length === 0) return '';
  const cellsOf = (index: number): readonly string[] => lines.map((line) => line[index] ?? '');
  const natural = columns.map((_, index) => longest(cellsOf(index)));
  const words = columns.map(({ wraps }, index) =>
    wraps ? longest(cellsOf(index).flatMap((cell) => stripVTControlCharacters(cell).split(/\s+/))) : 0,
  );
  const { shown, room } = fit(columns, natural, width);
  const table = new Table({
    chars: NO_BORDER,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    wordWrap: true,
    // Null: as wide as its cells.
    colWidths: shown.map((index) => (columns[index]?.wraps ? Math.max(room, words[index] ?? 0) : null)),
    colAligns: shown.map((index) => columns[index]?.align ?? 'left'),
  });
  for (const line of lines) table.push(shown.map((index) => line[index] ?? ''));
  return `${table.toString().replaceAll(/ +$/gm, '')}\n`;
}

/** The columns that stay, and the width of the one that wraps. */
function fit(
  columns: readonly Column[],
  natural: readonly number[],
  width: number,
): { readonly shown: readonly number[]; readonly room: number } {
  let shown = columns.map((_, index) => index);
  for (;;) {
    const text = shown.find((index) => columns[index]?.wraps === true);
    const needed = (text === undefined ? 0 : natural[text]) ?? 0;
    const others = shown.reduce((sum, index) => sum + (natural[index] ?? 0), -needed) + GAP * (shown.length - 1);
    const room = Math.min(needed, width - others);
    const last = shown.reduce((most, index) => Math.max(most, columns[index]?.optional ?? 0), 0);
    if (last === 0 || room >= Math.min(needed, LEAST_TEXT)) return { shown, room };
    shown = shown.filter((index) => columns[index]?.optional !== last);
  }
}

function longest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => Array.from(stripVTControlCharacters(text)).length));
}
