// No program loads these rooms at its start. `branches`, with the requests that need a key (`http`), is imported when
// branches are configured, or by their commands; `platform` and `branching` by commands alone; the sources of verifiers
// with the first move of a session. Nor does a proxy load the description of any command but `run`.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = new URL('../../src/', import.meta.url).pathname;

const LATE = new RegExp(
  String.raw`^(?:branches|platform|branching)/|^cli/.*commands\.ts$|` +
    String.raw`^http/(?:request|excerpt|secret-files)\.ts$|^verifiers/.*-source`,
);

/** Imports that are executed with the file. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const imports = [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.{1,2}\/[^']+)'|^import '(\.[^']+)'/gm)];
  return imports.map(([, path = '', alone = '']) => join(file, '..', path || alone));
}

function loadedBy(program: string): ReadonlySet<string> {
  const seen = new Set([program]);
  const open = [program];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const next = importsOf(file).filter((imported) => !seen.has(imported));
    for (const imported of next) seen.add(imported);
    open.push(...next);
  }
  return seen;
}

test.each(['app/command-line.ts', 'worker-main.ts', 'healthcheck-main.ts', 'index.ts'])('%s', (program) => {
  const loaded = [...loadedBy(program)];
  expect(loaded.length).toBeGreaterThan(5);
  expect(loaded.filter((file) => LATE.test(file))).toEqual([]);
});

test('no room imports the rooms platform and branching', () => {
  const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !/^(?:platform|branching)\//.test(file));
  expect(files.length).toBeGreaterThan(300);
  const users = files.filter((file) =>
    /(?:from |import\()'(?:\.\.\/)+(?:platform|branching)\//.test(readFileSync(join(SRC, file), 'utf8')),
  );
  // It gives their commands to the command line. The sandbox has a folder of that name.
  expect(users.filter((file) => !file.startsWith('sandbox/'))).toEqual(['app/other-commands.ts']);
});
