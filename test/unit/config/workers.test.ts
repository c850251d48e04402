// The number of processes: the valid values, and that it is fixed while they run.
import { expect, test } from 'vitest';
import { reconfigured } from '../../../src/config/changes.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/fault.ts';

const SEEDS = { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' };

function load(text: string, env: Readonly<Record<string, string>> = {}): ReturnType<typeof loadConfig> {
  return loadConfig({ file: 'p.yaml', env: { ...SEEDS, ...env }, readFile: () => text });
}

test.each([
  ['', {}, 1],
  ['workers: 4', {}, 4],
  ['workers: auto', {}, 'auto'],
  ['workers: 4', { POINTSMAN_WORKERS: 'auto' }, 'auto'],
  ['', { POINTSMAN_WORKERS: '2' }, 2],
])('%j with %j: %s', (text, env, expected) => {
  const loaded = load(text, env);
  expect(loaded.kind === 'ok' ? loaded.config.workers : formatProblems(loaded.problems)).toBe(expected);
});

test.each(['0', '-1', '1.5', '257', 'many'])('workers: %s is refused with the valid values', (written) => {
  const loaded = load(`workers: ${written}`);
  const told = loaded.kind === 'ok' ? '' : formatProblems(loaded.problems);
  expect(told).toContain('workers');
  expect(told).toContain('a whole number from 1 to 256, or auto');
});

test('another number needs a restart, and the reload reports this', () => {
  const [before, after] = [load('workers: 2'), load('workers: 3\nprobe: { interval: 2s }')];
  if (before.kind !== 'ok' || after.kind !== 'ok') throw new Error('both are valid');
  const { config, changed, needsRestart } = reconfigured(before.config, after.config);
  expect([config.workers, changed, needsRestart]).toEqual([2, ['probe.interval 1s -> 2s'], ['workers 2 -> 3']]);
});
