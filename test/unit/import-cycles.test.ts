// No file of src imports itself through others, type-only imports included. The linter sees value imports only. The
// rooms of the proxy import one way as well.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = new URL('../../src/', import.meta.url).pathname;
const FILES = globSync('**/*.{ts,tsx}', { cwd: SRC });
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

test('no file imports itself through others', () => {
  expect(FILES.filter((file) => reachable(file).has(file))).toEqual([]);
});

/** In the order of src/README.md: each room of the proxy imports the rooms before it. */
const ROOMS_OF_PROXY = 'messages plain accept startup connect branch cancel relay login ending moves reads'.split(' ');

function roomOf(path: string): string | undefined {
  return /^proxy\/([^/]+)\//.exec(path)?.[1];
}

function rankOf(path: string): number {
  return ROOMS_OF_PROXY.indexOf(roomOf(path) ?? '');
}

test('the rooms of the proxy import in the order in which they are read, and their common files import no room', () => {
  const inRooms = FILES.filter((file) => roomOf(file) !== undefined);
  expect(inRooms.filter((file) => rankOf(file) === -1)).toEqual([]);
  const common = new Set(
    inRooms.flatMap((file) => IMPORTS.get(file) ?? []).filter((path) => /^proxy\/[^/]+$/.test(path)),
  );
  const against = [...inRooms, ...common].flatMap((file) =>
    (IMPORTS.get(file) ?? []).filter((path) => rankOf(path) > rankOf(file)).map((path) => `${file} -> ${path}`),
  );
  expect(against).toEqual(['proxy/stage.ts -> proxy/startup/startup-reader.ts']);
});

test('imports are found', () => {
  expect(IMPORTS.get('core/observe.ts')).toContain('core/snapshot.ts');
  expect(FILES.filter((file) => (IMPORTS.get(file) ?? []).some((path) => !IMPORTS.has(path)))).toEqual([]);
});
