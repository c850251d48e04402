// No file of src imports itself by way of others, type-only imports included. The linter sees value imports only.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Cycles that are still to be broken. The list only shrinks: an entry without its cycle fails. */
const KNOWN: readonly (readonly string[])[] = [
  ['config/environment.ts', 'config/kubernetes.ts', 'config/schema.ts', 'config/shape.ts'],
  ['discovery/contact-points.ts', 'discovery/seeds.ts'],
  ['proxy/cancel/cancel.ts', 'proxy/connect/connect-backend.ts', 'proxy/surroundings.ts'],
  ['sandbox/console/switchover.ts', 'sandbox/console/verbs.ts'],
  [
    'sandbox/manager/lead.ts',
    'sandbox/manager/manager.ts',
    'sandbox/manager/restart.ts',
    'sandbox/manager/situation.ts',
    'sandbox/manager/steps.ts',
  ],
];

const SRC = new URL('../../src/', import.meta.url).pathname;
const FILES = globSync('**/*.ts', { cwd: SRC });
const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]));

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const paths = [...text.matchAll(/(?:from|import|import\() ?'(\.{1,2}\/[^']+)'/g)].map(([, path = '']) => path);
  return paths.map((path) => join(file, '..', path));
}

function reachable(start: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const next = (IMPORTS.get(file) ?? []).filter((imported) => !seen.has(imported));
    for (const imported of next) seen.add(imported);
    open.push(...next);
  }
  return seen;
}

test('no file imports itself by way of others', () => {
  const reach = new Map(FILES.map((file) => [file, reachable(file)]));
  const isTogether = (a: string, b: string): boolean => reach.get(a)?.has(b) === true && reach.get(b)?.has(a) === true;
  const groups = FILES.filter((file) => isTogether(file, file)).map((file) =>
    FILES.filter((other) => isTogether(file, other)).toSorted(),
  );
  const cycles = [...new Map(groups.map((group) => [group.join(), group])).values()];
  expect(cycles.toSorted((a, b) => a.join().localeCompare(b.join()))).toEqual(KNOWN);
});

test('imports are found', () => {
  expect(IMPORTS.get('core/observe.ts')).toContain('core/snapshot.ts');
  expect(FILES.filter((file) => (IMPORTS.get(file) ?? []).some((path) => !IMPORTS.has(path)))).toEqual([]);
});
