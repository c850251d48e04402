// The chart's values: the README and the schema agree with values.yaml.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { chartReadme, tablesOf } from '../../support/deploy/chart-readme.ts';
import { CHART } from '../../support/deploy/render-chart.ts';

const schema = z.looseObject({
  get properties() {
    return z.record(z.string(), z.union([z.boolean(), schema])).optional();
  },
  additionalProperties: z.unknown().optional(),
});

test('the README has the tables of values.yaml, from npm run chart-readme', async () => {
  expect(await readFile(join(CHART, 'README.md'), 'utf8')).toBe(await chartReadme());
});

test('a title starts a table, a comment describes; a map with commented values is listed by its values', () => {
  const values = `# About the file.

## First

# Of a.
# In two lines.
a: 1
b: { c: [2], d: null }

## Second
e:
  # Of f.
  f: ''
  g: true
`;
  expect(tablesOf(values)).toEqual([
    {
      title: 'First',
      rows: [
        { path: 'a', standard: '1', description: 'Of a. In two lines.' },
        { path: 'b', standard: '{"c":[2],"d":null}', description: '' },
      ],
    },
    {
      title: 'Second',
      rows: [
        { path: 'e.f', standard: '""', description: 'Of f.' },
        { path: 'e.g', standard: 'true', description: '' },
      ],
    },
  ]);
});

test('the schema has every value, and no other', async () => {
  const [values, known] = await Promise.all([
    readFile(join(CHART, 'values.yaml'), 'utf8').then((text) => z.record(z.string(), z.unknown()).parse(parse(text))),
    readFile(join(CHART, 'values.schema.json'), 'utf8').then((text) => schema.parse(JSON.parse(text))),
  ]);
  expect(differences(values, known)).toEqual([
    // Sections of pointsman.yaml, and values of helm itself.
    'only in the schema: cluster.allow',
    'only in the schema: cluster.api',
    'only in the schema: cluster.discovery',
    'only in the schema: cluster.kubernetes',
    'only in the schema: cluster.members',
    'only in the schema: cluster.scope',
    'only in the schema: global',
  ]);
});

/** The names that `others` lacks. */
function only(names: object, others: object): readonly string[] {
  return Object.keys(names).filter((name) => !Object.hasOwn(others, name));
}

/** Compares a map that the schema closes, and the closed maps inside it. */
function differences(values: Readonly<Record<string, unknown>>, known: z.infer<typeof schema>, path = ''): string[] {
  const properties = known.properties ?? {};
  const found = [
    ...only(values, properties).map((name) => `not in the schema: ${path}${name}`),
    ...only(properties, values).map((name) => `only in the schema: ${path}${name}`),
  ];
  for (const [name, value] of Object.entries(values)) {
    const child = properties[name];
    const map = z.record(z.string(), z.unknown()).safeParse(value);
    if (typeof child !== 'object' || child.additionalProperties !== false || !map.success) continue;
    found.push(...differences(map.data, child, `${path}${name}.`));
  }
  return found.toSorted();
}
