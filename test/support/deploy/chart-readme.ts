// Writes the chart's README: the text before the marker is by hand, the tables behind it come from values.yaml. A
// comment above a value is its description; a comment that begins with `## ` starts a table.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, isScalar, parseDocument } from 'yaml';
import type { Pair, YAMLMap } from 'yaml';
import { CHART } from './render-chart.ts';

const MARKER = '<!-- generated from values.yaml by `npm run chart-readme` -->\n';

interface Row {
  /** `image.tag` */
  readonly path: string;
  readonly standard: string;
  readonly description: string;
}

interface Table {
  readonly title: string;
  readonly rows: Row[];
}

/** The file as it should be. */
export async function chartReadme(): Promise<string> {
  const [written, values] = await Promise.all(
    ['README.md', 'values.yaml'].map((name) => readFile(join(CHART, name), 'utf8')),
  );
  const end = written?.indexOf(MARKER) ?? -1;
  if (written === undefined || values === undefined || end === -1) throw new Error(`README.md has no line ${MARKER}`);
  return `${written.slice(0, end)}${MARKER}${tablesOf(values).map(tableText).join('')}`;
}

export function tablesOf(values: string): readonly Table[] {
  const { contents } = parseDocument(values);
  if (!isMap(contents)) throw new Error('values.yaml is no map');
  const tables: Table[] = [];
  for (const pair of contents.items) {
    const lines = commentOf(contents, pair).split('\n');
    const titleAt = lines.findIndex((line) => line.startsWith('# '));
    if (titleAt !== -1) tables.push({ title: lines[titleAt]?.slice(2) ?? '', rows: [] });
    tables.at(-1)?.rows.push(...rowsOf(pair, '', lines.slice(titleAt + 1).join('\n')));
  }
  return tables;
}

/** A map is listed value by value when one of its values has a comment, else as a whole. */
function rowsOf({ key, value }: Pair, before: string, comment: string): readonly Row[] {
  const path = `${before}${isScalar(key) ? String(key.value) : ''}`;
  if (isMap(value) && value.items.some((child) => commentOf(value, child) !== '')) {
    return value.items.flatMap((child) => rowsOf(child, `${path}.`, commentOf(value, child)));
  }
  return [{ path, standard: JSON.stringify(value), description: comment.replaceAll(/\s*\n\s*/g, ' ').trim() }];
}

/** The parser gives the comment above a map's first value to the map. */
function commentOf(map: YAMLMap, { key }: Pair): string {
  const own = isScalar(key) ? (key.commentBefore ?? '') : '';
  return map.items[0]?.key === key ? `${map.commentBefore ?? ''}${own}` : own;
}

function tableText({ title, rows }: Table): string {
  const lines = rows.map(({ path, standard, description }) => `| \`${path}\` | \`${standard}\` | ${description} |`);
  return `\n### ${title}\n\n| Value | Default | Meaning |\n|---|---|---|\n${lines.join('\n')}\n`;
}
