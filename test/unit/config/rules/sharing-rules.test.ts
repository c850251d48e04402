// The read options of a pool, and the problems of options that make no sense.
import { describe, expect, test } from 'vitest';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import type { LoadResult } from '../../../../src/config/load.ts';
import { formatProblems } from '../../../../src/config/fault.ts';

const SEEDS = { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' };

function load(text: string, env: Readonly<Record<string, string>> = {}): LoadResult {
  return loadConfig({ file: 'p.yaml', env: { ...SEEDS, ...env }, readFile: () => text });
}

function said(loaded: LoadResult): string {
  return formatProblems(loaded.kind === 'ok' ? loaded.warnings : loaded.problems);
}

/** The pool that results from `pools: { read: … }`. */
function read(options: string, top = ''): PoolPolicy | undefined {
  const loaded = load(`pools: { read: { ${options} } }\n${top}`);
  if (loaded.kind === 'invalid') throw new Error(said(loaded));
  return loaded.config.pools.find(({ name }) => name === 'read');
}

describe('options', () => {
  test('weight and zone are off unless they are configured', () => {
    expect(read('')).toMatchObject({ weightTag: undefined, zoneTag: undefined });
    expect(read('weight_tag: lb, zone_tag: az', 'zone: a')).toMatchObject({ weightTag: 'lb', zoneTag: 'az' });
  });

  test('the local zone may come from the environment', () => {
    const loaded = load('pools: { read: { zone_tag: az } }', { POINTSMAN_ZONE: 'eu-1' });
    expect(loaded).toMatchObject({ kind: 'ok', config: { zone: 'eu-1' } });
  });

  test('slow start applies to pools of several members', () => {
    expect(load('')).toMatchObject({ config: { pools: [{ slowStartMs: 0 }, { slowStartMs: 30_000 }] } });
    expect(read('slow_start: 0')?.slowStartMs).toBe(0);
    expect(read('slow_start: 2m')?.slowStartMs).toBe(120_000);
  });

  test('no age ends a session unless it is configured', () => {
    expect(read('')?.maxSessionAgeMs).toBeUndefined();
    expect(read('max_session_age: off')?.maxSessionAgeMs).toBeUndefined();
    expect(read('max_session_age: 1h')?.maxSessionAgeMs).toBe(3_600_000);
    const loaded = load('', { POINTSMAN_POOLS_READ_MAX_SESSION_AGE: '30m' });
    expect(loaded).toMatchObject({ config: { pools: [{}, { maxSessionAgeMs: 1_800_000 }] } });
  });

  test('no age of its data excludes a replica unless it is configured', () => {
    expect(read('')?.maxStalenessMs).toBeUndefined();
    expect(read('max_staleness: off')?.maxStalenessMs).toBeUndefined();
    expect(read('max_staleness: 3s')?.maxStalenessMs).toBe(3000);
    const alone = read('check: /replica, max_staleness: 10s, when_all_lagging: refuse');
    expect(alone).toMatchObject({ maxStalenessMs: 10_000, whenAllLagging: 'refuse' });
  });

  test('if every member lags, a pool uses its fallback, if it has one', () => {
    expect(read('')).toMatchObject({ whenAllLagging: 'fallback', maxLaggingSessions: 100 });
    expect(read('when_all_lagging: refuse')?.whenAllLagging).toBe('refuse');
    const capped = read('when_all_lagging: least_lagging, max_lagging_sessions: 7');
    expect(capped).toMatchObject({ whenAllLagging: 'least_lagging', maxLaggingSessions: 7 });
  });
});

describe('rebalance', () => {
  const MOVES = 'moves: { roles: [app] }';

  test('a pool of several members has it where sessions move', () => {
    expect(read('')?.rebalance).toBeUndefined();
    expect(read('', MOVES)?.rebalance).toEqual({ perSecond: 50 });
    expect(read('rebalance: false', MOVES)?.rebalance).toBeUndefined();
    expect(read('rebalance: { per_second: 5 }', MOVES)?.rebalance).toEqual({ perSecond: 5 });
    expect(read('balance: client_address', MOVES)?.rebalance).toBeUndefined();
    expect(load(MOVES)).toMatchObject({ kind: 'ok', config: { pools: [{ rebalance: undefined }, {}] } });
  });

  test.each([
    ['pools: { read: { rebalance: true } }', 'pools.read.rebalance: needs the section moves'],
    ['pools: { write: { rebalance: true } }', 'pools.write.rebalance: an exclusive pool has at most one member'],
    [
      `pools: { read: { rebalance: true, balance: client_address } }\n${MOVES}`,
      'pools.read.rebalance: balance: client_address keeps the sessions of an address together',
    ],
    [`pools: { read: { rebalance: fast } }\n${MOVES}`, 'expected true, false, or { per_second: 50 }'],
  ])('%s', (text, message) => {
    expect(said(load(text))).toContain(message);
  });
});

describe('errors', () => {
  test.each([
    [
      'pools: { write: { weight_tag: lb } }',
      'p.yaml:1:31: pools.write.weight_tag: an exclusive pool has at most one member, ' +
        'so there is nothing to distribute',
    ],
    ['pools: { write: { zone_tag: az } }\nzone: a', 'pools.write.zone_tag: an exclusive pool has at most one member'],
    ['pools: { write: { slow_start: 5s } }', 'pools.write.slow_start: an exclusive pool has at most one member'],
    [
      'pools: { read: { zone_tag: az } }',
      'pools.read.zone_tag: the zone of this Pointsman is not known: give zone at the top, or',
    ],
    ['pools: { write: { max_session_age: 1h } }', 'pools.write.max_session_age: an exclusive pool has at most one'],
    ['pools: { read: { max_session_age: 5ms } }', 'pools.read.max_session_age: 5ms is too short: at least 1s'],
    ['pools: { read: { max_session_age: never } }', 'pools.read.max_session_age: "never" is not a duration: '],
    [
      'pools: { read: { max_session_age: [1h] } }',
      'pools.read.max_session_age: expected a duration such as 30m or 1h, or off, not a list',
    ],
    [
      'pools: { write: { when_all_lagging: refuse } }',
      'pools.write.when_all_lagging: an exclusive pool has at most one',
    ],
    ['pools: { read: { when_all_lagging: never } }', 'expected refuse, least_lagging or fallback, not "never"'],
    [
      'pools: { read: { check: /replica, when_all_lagging: refuse } }',
      'pools.read.when_all_lagging: the pool has no lag limit: write max_staleness, or a check such as ',
    ],
    [
      'pools: { read: { fallback: none, when_all_lagging: fallback } }',
      'pools.read.when_all_lagging: the pool has no fallback: give one, or write refuse or least_lagging',
    ],
    [
      'pools: { read: { max_lagging_sessions: 7 } }',
      'pools.read.max_lagging_sessions: has an effect only with when_all_lagging: least_lagging',
    ],
    [
      'pools: { read: { max_staleness: 2s } }',
      'p.yaml:1:33: pools.read.max_staleness: 2s is too short: at least 3 times probe.interval (3s)',
    ],
    [
      'pools: { read: { max_staleness: 5s } }\nprobe: { interval: 2s }',
      'pools.read.max_staleness: 5s is too short: at least 3 times probe.interval (6s)',
    ],
    ['pools: { write: { max_staleness: 5s } }', 'pools.write.max_staleness: an exclusive pool has at most one member'],
    [
      'pools: { all: { check: /primary, exclusive: false, max_staleness: 5s } }',
      'pools.all.max_staleness: the members that answer /primary replay nothing',
    ],
    [
      'pools: { write: { check: /leader }, read: { max_staleness: 5s } }',
      'pools.read.max_staleness: no pool asks for the primary, so there is nothing to compare with',
    ],
    ['pools: { read: { weight_tag: "" } }', 'pools.read.weight_tag: is empty'],
    ['pools: { read: { slow_start: 30 } }', 'pools.read.slow_start: 30 has no unit'],
  ])('%s', (text, expected) => {
    const loaded = load(text);
    expect(loaded.kind).toBe('invalid');
    expect(said(loaded)).toContain(expected);
  });
});

test('a zone that no pool uses gives a warning', () => {
  const loaded = load('zone: a');
  expect(loaded.kind).toBe('ok');
  expect(said(loaded)).toContain('p.yaml:1:7: zone: has no effect: no pool has a zone_tag');
});
