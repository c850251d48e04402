// How a pool's options for reads are read, and what is said of those that make no sense.
import { describe, expect, test } from 'vitest';
import type { PoolPolicy } from '../../../src/core/policy.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Loaded } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/problem.ts';

const SEEDS = { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' };

function load(text: string, env: Readonly<Record<string, string>> = {}): Loaded {
  return loadConfig({ file: 'p.yaml', env: { ...SEEDS, ...env }, readFile: () => text });
}

function said(loaded: Loaded): string {
  return formatProblems(loaded.kind === 'ok' ? loaded.warnings : loaded.problems);
}

/** What `pools: { read: … }` makes of the pool. */
function read(options: string, top = ''): PoolPolicy | undefined {
  const loaded = load(`pools: { read: { ${options} } }\n${top}`);
  if (loaded.kind === 'invalid') throw new Error(said(loaded));
  return loaded.config.pools.find(({ name }) => name === 'read');
}

describe('options', () => {
  test('weight and zone are not asked for unless they are given', () => {
    expect(read('')).toMatchObject({ weightTag: undefined, zoneTag: undefined });
    expect(read('weight_tag: lb, zone_tag: az', 'zone: a')).toMatchObject({ weightTag: 'lb', zoneTag: 'az' });
  });

  test('our own zone may come from the environment', () => {
    const loaded = load('pools: { read: { zone_tag: az } }', { POINTSMAN_ZONE: 'eu-1' });
    expect(loaded).toMatchObject({ kind: 'ok', config: { zone: 'eu-1' } });
  });

  test('slow start is for pools of several members', () => {
    expect(load('')).toMatchObject({ config: { pools: [{ slowStartMs: 0 }, { slowStartMs: 30_000 }] } });
    expect(read('slow_start: 0')?.slowStartMs).toBe(0);
    expect(read('slow_start: 2m')?.slowStartMs).toBe(120_000);
  });
});

describe('errors', () => {
  test.each([
    [
      'pools: { write: { weight_tag: lb } }',
      'p.yaml:1:31: pools.write.weight_tag: an exclusive pool has at most one member, so there is nothing to share out',
    ],
    ['pools: { write: { zone_tag: az } }\nzone: a', 'pools.write.zone_tag: an exclusive pool has at most one member'],
    ['pools: { write: { slow_start: 5s } }', 'pools.write.slow_start: an exclusive pool has at most one member'],
    ['pools: { read: { zone_tag: az } }', 'pools.read.zone_tag: which zone is ours? Give it as zone, at the top or as'],
    ['pools: { read: { weight_tag: "" } }', 'pools.read.weight_tag: is empty'],
    ['pools: { read: { slow_start: 30 } }', 'pools.read.slow_start: 30 has no unit'],
  ])('%s', (text, expected) => {
    const loaded = load(text);
    expect(loaded.kind).toBe('invalid');
    expect(said(loaded)).toContain(expected);
  });
});

test('a zone that nobody asks for is warned of', () => {
  const loaded = load('zone: a');
  expect(loaded.kind).toBe('ok');
  expect(said(loaded)).toContain('p.yaml:1:7: zone: has no effect: no pool has a zone_tag');
});
