// The generated files match the output of `npm run generate`, and their contents are true.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { editorSchema } from '../../../../src/config/reference/editor-schema.ts';
import { effectiveYaml } from '../../../../src/config/reference/effective.ts';
import { exampleFile } from '../../../../src/config/reference/example-file.ts';
import { referencePage } from '../../../../src/config/reference/reference-page.ts';
import { notedShape, type NotedShape } from '../../../../src/config/reference/noted-shape.ts';
import { alternatives } from '../../../../src/config/schema/shape.ts';
import { configOf, valuesOf } from '../../../support/values/loading.ts';

const FOLDER = new URL('../../../../config/', import.meta.url);

function written(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

test.each([
  ['pointsman.schema.json', editorSchema],
  ['REFERENCE.md', referencePage],
  ['example.yaml', exampleFile],
])('%s matches the output of npm run generate', (name, generate) => {
  expect(written(name)).toBe(generate());
});

function load(text: string, env: Readonly<Record<string, string>> = {}): ReturnType<typeof loadConfig> {
  return loadConfig({ file: 'p.yaml', env, readFile: () => text });
}

const SEEDS = { POINTSMAN_CLUSTER_SEEDS: 'http://10.0.0.11:8008,http://10.0.0.12:8008' };

test('the example shows every default value', () => {
  expect(valuesOf(load(written('example.yaml')))).toEqual(valuesOf(loadConfig({ file: undefined, env: SEEDS })));
});

test('no line of the example is too long', () => {
  expect(
    exampleFile()
      .split('\n')
      .filter((line) => line.length > 120),
  ).toEqual([]);
});

function keysOf(shape: NotedShape, path: readonly string[]): readonly (readonly [string, NotedShape])[] {
  return alternatives(shape).flatMap((one) => {
    const children = [...one.properties].map(([key, child]) => [key, child] as const);
    const others = [one.values, one.items].flatMap((child) => (child === undefined ? [] : [['*', child] as const]));
    return [...children, ...others].flatMap(([key, child]) => [
      [[...path, key].join('.'), child] as const,
      ...keysOf(child, [...path, key]),
    ]);
  });
}

const KEYS = keysOf(notedShape, []);

test('every key has a description', () => {
  const silent = KEYS.filter(([path, { schema }]) => !path.endsWith('*') && schema.description === undefined);
  expect(silent.map(([path]) => path)).toEqual([]);
});

test('exactly the keys that a reload does not apply state this', () => {
  const marked = KEYS.filter(([, { schema }]) => schema.needsRestart === true).map(([path]) => path);
  const before = configOf(load('', SEEDS));
  const after = [
    'cluster: { scope: other }',
    'listeners: [{ address: 127.0.0.1:6432, pool: write, reuse_port: true }, { address: 127.0.0.1:6433, pool: read }]',
    'relay: streams',
    'workers: 2',
    'admin: { address: 127.0.0.1:1 }',
    'admin: { console: { address: 127.0.0.1:1 } }',
    'incidents: { directory: /, max_size: 1MB, keep: 1 }',
    'log: { format: json }',
  ];
  const held = after.flatMap((text) => reconfigured(before, configOf(load(text, SEEDS))).needsRestart);
  expect(held.map((change) => change.replace(/ .*/, '')).toSorted()).toEqual(
    [...new Set(marked.map((path) => path.replace(/^listeners\.\*\..*/, 'listeners')))].toSorted(),
  );
});

test.each([
  ['the defaults', ''],
  [
    'pools of every kind',
    'pools: { a: { check: /read-only }, b: { check: /leader }, c: { check: "/replica?lag=1MB" } }',
  ],
  ['least lagging', 'pools: { read: { when_all_lagging: least_lagging, max_session_age: 1h, zone_tag: az } }\nzone: a'],
  ['off', 'client: { max_handshakes: off }\nprobe: { silent_probes: off }\nbackend: { attempt_delay: off }'],
  [
    'hosts of both kinds',
    'listeners: [{ address: "*:1", pool: read }]\ncluster: { allow: { networks: ["fd00::/8"] } }',
  ],
  ['sizes', 'incidents: { max_size: 1.5MB }'],
  ['members', 'cluster: { members: [{ name: a, api: http://a:1, postgres: "a:2" }] }'],
])('the printed configuration loads as the same configuration: %s', (_, text) => {
  const loaded = load(text, SEEDS);
  const config = configOf(loaded);
  expect(valuesOf(load(effectiveYaml(config)))).toEqual(valuesOf(loaded));
  expect(valuesOf(load(effectiveYaml(config, true)))).toEqual(valuesOf(loaded));
});

test('the printed configuration does not show the token', () => {
  const config = configOf(load('', { ...SEEDS, POINTSMAN_ADMIN_TOKEN: 'secret-secret-secret' }));
  expect(effectiveYaml(config)).not.toContain('secret-secret');
  expect(effectiveYaml(config)).toMatch(/^# admin\.token is set and not shown \(environment POINTSMAN_ADMIN_TOKEN\)$/m);
});
