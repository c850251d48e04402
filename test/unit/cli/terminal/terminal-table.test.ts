// Tables that fit the width of a terminal, with and without colour.
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../../src/cli/terminal/colour.ts';
import { tableText, widthFor } from '../../../../src/cli/terminal/terminal-table.ts';

const COLUMNS = [
  { title: 'MEMBER' },
  { title: 'LAG', align: 'right' },
  { title: 'API', optional: 2 },
  { title: 'AGE', align: 'right', optional: 1 },
  { title: 'WHY', wraps: true },
] as const;
const API = 'http://10.0.0.11:8008';
const WHY = 'is a replica that answered 200 to /replica a moment ago';
const ROWS = [
  ['pg-1', '0 B', API, '0.2s', WHY],
  ['pg-10', '32.2 MB', API, '12s', 'not asked'],
];

const widest = (text: string): number => Math.max(...text.split('\n').map(({ length }) => length));

describe('a table', () => {
  test('is as wide as its cells where there is room, with numbers to the right', () => {
    expect(tableText(COLUMNS, ROWS, 200)).toBe(
      [
        'MEMBER      LAG  API                     AGE  WHY',
        'pg-1        0 B  http://10.0.0.11:8008  0.2s  is a replica that answered 200 to /replica a moment ago',
        'pg-10   32.2 MB  http://10.0.0.11:8008   12s  not asked',
        '',
      ].join('\n'),
    );
  });

  test('wraps its long column first', () => {
    const text = tableText(COLUMNS, ROWS, 80);
    expect(widest(text)).toBeLessThanOrEqual(80);
    expect(text).toContain(`
pg-1        0 B  http://10.0.0.11:8008  0.2s  is a replica that answered 200 to
                                              /replica a moment ago
pg-10 `);
  });

  test('then leaves out optional columns, the highest number first', () => {
    expect(tableText(COLUMNS, ROWS, 60).split('\n')[0]).toBe('MEMBER      LAG   AGE  WHY');
    expect(tableText(COLUMNS, ROWS, 42).split('\n')[0]).toBe('MEMBER      LAG  WHY');
  });

  test('cuts no text, however narrow the terminal is', () => {
    const words = tableText(COLUMNS, [['pg-1', '0 B', API, '0.2s', 'https://very.long.example/path is far']], 10);
    expect(words).toContain('https://very.long.example/path\n');
    expect(words).toContain('pg-1    0 B ');
    expect(words).toContain(' is far\n');
  });

  test('has no title row without titles, and is empty without lines', () => {
    expect(tableText([{ title: '' }, { title: '', wraps: true }], [['write', 'open on pg-1']])).toBe(
      'write  open on pg-1\n',
    );
    expect(tableText([{ title: '' }], [])).toBe('');
    expect(tableText([{ title: 'A' }], [])).toBe('A\n');
  });

  test('is the same with colour', () => {
    const paint = paintFor({ env: { FORCE_COLOR: '1' } });
    const painted = ROWS.map((row) => row.map((cell) => paint('good', cell)));
    for (const width of [200, 80, 60, 42]) {
      const text = tableText(COLUMNS, painted, width);
      expect(text).toContain('\u001B[32m');
      expect(stripVTControlCharacters(text)).toBe(tableText(COLUMNS, ROWS, width));
    }
  });
});

test('the width is that of the terminal, else COLUMNS, else 80', () => {
  const screen = { size: () => ({ columns: 120, rows: 40 }) };
  expect(widthFor({ env: { COLUMNS: '100' }, screen })).toBe(120);
  expect(widthFor({ env: { COLUMNS: '100' } })).toBe(100);
  expect(widthFor({ env: { COLUMNS: 'wide' } })).toBe(80);
  expect(widthFor({ env: {} })).toBe(80);
});
