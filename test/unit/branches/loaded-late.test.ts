// No program loads the room `branches` at its start: it is imported when branches are configured, or by their commands.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = new URL('../../../src/', import.meta.url).pathname;

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
  expect(loaded.filter((file) => file.startsWith('branches/'))).toEqual([]);
});
