// POINTSMAN_ variables: the setting of each, and the error for every misspelt one.
import { describe, expect, test } from 'vitest';
import type { Config } from '../../../../src/config/config.ts';
import type { Environment } from '../../../../src/config/source/environment.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { formatProblems } from '../../../../src/config/fault.ts';

const SEEDS = { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' };

function configOf(env: Environment, text = ''): Config {
  const loaded = loadConfig({ file: 'p.yaml', env: { ...SEEDS, ...env }, readFile: () => text });
  if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

function problemsOf(env: Environment, text = ''): string {
  const loaded = loadConfig({ file: 'p.yaml', env: { ...SEEDS, ...env }, readFile: () => text });
  return loaded.kind === 'ok' ? '' : formatProblems(loaded.problems);
}

describe('overrides', () => {
  const cases: readonly (readonly [Environment, (config: Config) => unknown, unknown])[] = [
    [{ POINTSMAN_PROBE_INTERVAL: '2s' }, (config) => config.probe.intervalMs, 2000],
    [{ POINTSMAN_PROBE_URGENT_FOR: '0' }, (config) => config.probe.urgent.forMs, 0],
    [{ POINTSMAN_PROBE_RISE: '3' }, (config) => config.probe.rise, 3],
    [{ POINTSMAN_PROBE_VOUCHING: 'false' }, (config) => config.probe.vouching, false],
    [{ POINTSMAN_CLUSTER_SCOPE: '12' }, (config) => config.cluster.scope, '12'],
    [{ POINTSMAN_CLUSTER_ALLOW_PORTS: '5432, 5433' }, (config) => config.cluster.allow.ports, [5432, 5433]],
    [{ POINTSMAN_CLUSTER_API_TLS_CA: '/ca.pem' }, (config) => config.cluster.api.tls?.ca, '/ca.pem'],
    [{ POINTSMAN_POOLS_READ_CHECK: '/read-only' }, (config) => config.pools[1]?.check.text, '/read-only'],
    [{ POINTSMAN_POOLS_READ_ON_LEAVE_TAGGED_OUT: 'keep' }, (config) => config.pools[1]?.onLeave.tagged_out, 'keep'],
    [{ POINTSMAN_POOLS_READ_FALLBACK: 'none' }, (config) => config.pools[1]?.fallback, undefined],
    [{ POINTSMAN_POOLS_READ_FALLBACK_MAX_SESSIONS: '9' }, (config) => config.pools[1]?.fallback?.maxSessions, 9],
    [{ POINTSMAN_LISTENERS_1_ADDRESS: '*:7000' }, (config) => config.listeners[1]?.address.port, 7000],
    [{ POINTSMAN_LISTENERS_1_ADDRESS: '*:7000' }, (config) => config.listeners[1]?.pool, 'read'],
    [
      { POINTSMAN_LISTENERS_2_ADDRESS: '*:7000', POINTSMAN_LISTENERS_2_POOL: 'read' },
      (config) => config.listeners.length,
      3,
    ],
    [
      { POINTSMAN_CLUSTER_MEMBERS_0_NAME: 'pg1', POINTSMAN_CLUSTER_MEMBERS_0_API: 'http://a:1' },
      (config) => config.cluster.members[0]?.name,
      'pg1',
    ],
  ];
  test.each(cases)('%j', (env, read, expected) => {
    expect(read(configOf(env))).toEqual(expected);
  });

  test('the environment has precedence over the file, also in pools of the file', () => {
    const text = 'probe: { interval: 3s }\npools: { my-reports: { check: /replica } }';
    const env = { POINTSMAN_PROBE_INTERVAL: '2s', POINTSMAN_POOLS_MY_REPORTS_CHECK: '/sync' };
    const config = configOf(env, text);
    expect(config.probe.intervalMs).toBe(2000);
    expect(config.pools[2]?.check.text).toBe('/sync');
  });

  test('a fallback that the file switched off may be switched on again', () => {
    const env = { POINTSMAN_POOLS_READ_FALLBACK_POOL: 'write' };
    const [, read] = configOf(env, 'pools: { read: { fallback: none } }').pools;
    expect(read?.fallback).toEqual({ pool: 'write', maxSessions: 100 });
  });

  test('a list of scalars is separated by commas', () => {
    const { seeds } = configOf({ POINTSMAN_CLUSTER_SEEDS: 'http://a:1, http://b:2,' }).cluster;
    expect(seeds.map((seed) => seed.url)).toEqual(['http://a:1', 'http://b:2']);
  });

  test('an empty value counts as unset', () => {
    expect(configOf({ POINTSMAN_PROBE_INTERVAL: '', POINTSMAN_NONSENSE: '' }).probe.intervalMs).toBe(1000);
  });
});

describe('problems name the variable', () => {
  const cases: readonly (readonly [Environment, string])[] = [
    [{ POINTSMAN_LISTENERS: '*:6432' }, 'POINTSMAN_LISTENERS: unknown variable: did you mean POINTSMAN_LISTENERS_0_'],
    [{ POINTSMAN_PROBE_INTERVAL: '5' }, 'environment POINTSMAN_PROBE_INTERVAL: probe.interval: 5 has no unit'],
    [{ POINTSMAN_PROBE_RISE: 'x' }, 'environment POINTSMAN_PROBE_RISE: probe.rise: expected a whole number'],
    [{ POINTSMAN_PROBE_VOUCHING: 'yes' }, 'probe.vouching: expected true or false, not "yes"'],
    [{ POINTSMAN_CLUSTER_SEEDS: 'http://a:1,b' }, 'environment POINTSMAN_CLUSTER_SEEDS: cluster.seeds[1]: "b" is not'],
    [
      { POINTSMAN_PROBE_WRITE_MAX_AGE: '1s' },
      'environment POINTSMAN_PROBE_WRITE_MAX_AGE: probe.write_max_age: 1s is not',
    ],
    [
      { POINTSMAN_PROB_INTERVAL: '1s' },
      'POINTSMAN_PROB_INTERVAL: unknown variable: did you mean POINTSMAN_PROBE_INTERVAL?',
    ],
    [
      { POINTSMAN_POOLS_REPORTS_CHECK: '/replica' },
      'POINTSMAN_POOLS_REPORTS_CHECK: unknown variable: there is no pool reports (known: write, read), ' +
        'and the environment',
    ],
    [
      { POINTSMAN_POOLS_REPORTS_FALLBACK_MAX_SESSIONS: '1' },
      'there is no pool reports (known: write, read), and the environment cannot add one: write it in the file',
    ],
    [{ POINTSMAN_POOLS_RAED_CHECK: '/replica' }, 'unknown variable: did you mean POINTSMAN_POOLS_READ_CHECK?'],
    [{ POINTSMAN_POOLS_CHECK: '/replica' }, 'POINTSMAN_POOLS_CHECK: unknown variable: did you mean POINTSMAN_POOLS_'],
    [{ POINTSMAN_LISTENERS_4_POOL: 'read' }, 'environment POINTSMAN_LISTENERS_4_POOL: unknown variable'],
    [{ POINTSMAN_ADMIN_PORT: '8432' }, 'environment POINTSMAN_ADMIN_PORT: unknown variable'],
  ];
  test.each(cases)('%j', (env, expected) => {
    expect(problemsOf(env)).toContain(expected);
  });

  test('a variable does not hide the wrong section of the file above it', () => {
    expect(problemsOf({ POINTSMAN_PROBE_INTERVAL: '1s' }, 'probe: 5')).toContain('probe: expected a map, not 5');
  });

  test('a password in a URL is not printed', () => {
    const problems = problemsOf({ POINTSMAN_CLUSTER_SEEDS: 'http://u:secret@a:1' });
    expect(problems).toContain('the URL carries a user or password');
    expect(problems).not.toContain('secret');
  });
});

describe('names of other programs', () => {
  test.each([
    ['POINTSMAN_CONFIG', 'p.yaml'],
    ['POINTSMAN_SERVICE_HOST', '10.0.0.1'],
    ['POINTSMAN_SERVICE_PORT', '6432'],
    ['POINTSMAN_SERVICE_PORT_WRITE', '6432'],
    ['POINTSMAN_PORT', 'tcp://10.0.0.1:6432'],
    ['POINTSMAN_PORT_6432_TCP', 'tcp://10.0.0.1:6432'],
    ['POINTSMAN_PORT_6432_TCP_ADDR', '10.0.0.1'],
    ['POINTSMAN_READ_SERVICE_HOST', '10.0.0.1'],
    ['OTHER_THING', 'x'],
  ])('%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toBe('');
  });
});
