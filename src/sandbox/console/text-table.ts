// Formats rows as a table, with Node's console.table.
import { Console } from 'node:console';
import { Writable } from 'node:stream';

export function tableText(rows: readonly Readonly<Record<string, unknown>>[]): string {
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const shown = rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cell(value)])));
  new Console(sink).table(shown);
  return text;
}

function cell(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
