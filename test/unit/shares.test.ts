// The share of a test run that one file may take.
import { expect, test } from 'vitest';
import { longest, overShare } from '../support/runner/shares.ts';
import type { FileTime } from '../support/runner/shares.ts';

const MINUTE_MS = 60_000;

/** A run of short files, and this one. */
function run(project: string, minutes: number, shortFiles: number, slowness = 1): readonly FileTime[] {
  const short = { file: 'test/short.test.ts', project, ms: 0.5 * MINUTE_MS * slowness };
  return [
    { file: 'test/long.test.ts', project, ms: minutes * MINUTE_MS * slowness },
    ...Array.from({ length: shortFiles }, () => short),
  ];
}

test('a file above its share fails the run, with its name, its time and its limit', () => {
  expect(overShare(run('e2e', 3, 70))).toEqual(['test/long.test.ts (e2e) 180 s, 7.9 %: more than its share, 114 s']);
  expect(overShare(run('e2e', 1.8, 70))).toEqual([]);
});

test('on a slow machine the same files keep their share, and the same file exceeds it', () => {
  expect(overShare(run('e2e', 1.8, 70, 20))).toEqual([]);
  expect(overShare(run('e2e', 3, 70, 20))).toHaveLength(1);
});

test('a slow file may take a fifth', () => {
  expect(overShare(run('patroni', 8, 70))).toEqual([]);
  expect(overShare(run('slow-measured', 12, 70))).toHaveLength(1);
});

test('a file that runs alone is not too long', () => {
  expect(overShare(run('e2e', 1.4, 0))).toEqual([]);
});

test('the longest files come first', () => {
  const lines = longest([...run('e2e', 1, 12), ...run('integration', 2, 0)]);
  expect(lines).toHaveLength(10);
  expect(lines[0]).toBe('test/long.test.ts (integration) 120 s, 22.2 %');
});
