// The changes of a reload in the words of the file, and the settings that a reload cannot change.
import { expect, test } from 'vitest';
import { reconfigured } from '../../../src/config/changes.ts';
import type { Reconfiguration } from '../../../src/config/changes.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/fault.ts';
import { writtenForm } from '../../../src/config/written-form.ts';

const SEEDS = 'cluster: { seeds: [http://pg1:8008] }\n';

function configOf(text: string): Config {
  const loaded = loadConfig({
    file: 'p.yaml',
    env: {},
    readFile: () => (text.includes('seeds') ? text : SEEDS + text),
  });
  if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

function from(before: string, after: string): Reconfiguration {
  return reconfigured(configOf(before), configOf(after));
}

test.each([
  ['', '', []],
  ['', 'probe: { interval: 2s, timeout: 250ms }', ['probe.interval 1s -> 2s', 'probe.timeout 800ms -> 250ms']],
  [
    '',
    'probe: { urgent: { for: 1m }, silence_grace: 20s }',
    ['probe.urgent.for 30s -> 1m', 'probe.silence_grace 15s -> 20s'],
  ],
  [
    '',
    'hold: { max_connects_per_second: 10, client_timeout: 0 }',
    ['hold.before_switchover 1s -> 0', 'hold.client_timeout 30s -> 0', 'hold.max_connects_per_second 200 -> 10'],
  ],
  [
    '',
    'pools: { read: { weight_tag: lb, zone_tag: az, slow_start: 1m } }\nzone: a',
    [
      'pools.read.weight_tag none -> lb',
      'pools.read.zone_tag none -> az',
      'pools.read.slow_start 30s -> 1m',
      'zone none -> a',
    ],
  ],
  ['', 'client: { max_sessions: 7 }', ['client.max_sessions 5000 -> 7', 'client.max_handshakes 1250 -> 1000']],
  ['', 'client: { max_disconnects_per_second: 7 }', ['client.max_disconnects_per_second 50 -> 7']],
  ['', 'log: { level: debug }', ['log.level info -> debug']],
  ['', 'pools: { read: { check: /read-only } }', ['pools.read.check /replica?lag=16MB -> /read-only']],
  ['', 'pools: { read: { on_leave: { promoted: close } } }', ['pools.read.on_leave.promoted drain -> close']],
  [
    '',
    'pools: { read: { fallback: none } }',
    ['pools.read.fallback.pool write -> none', 'pools.read.fallback.max_sessions 100 -> none'],
  ],
  ['', 'pools: { maxMs: { check: /async } }', ['pools.maxMs added']],
  ['pools: { maxMs: { check: /async } }', '', ['pools.maxMs removed']],
  ['', 'listeners: [{ address: 127.0.0.1:6432, pool: write }]', ['listeners']],
  [SEEDS, 'cluster: { seeds: [http://pg2:8008] }', ['cluster.seeds']],
  [
    SEEDS,
    'cluster: { seeds: [http://pg1:8008], api: { tls: { ca: ca.pem } } }',
    ['cluster.api.tls.ca none -> ca.pem', 'cluster.api.tls.insecure none -> false'],
  ],
])('%j, then %j', (before, after, changed) => {
  const { config, needsRestart, ...rest } = from(before, after);
  expect(rest.changed.toSorted()).toEqual(changed.toSorted());
  expect(needsRestart).toEqual([]);
  expect(config).toEqual(configOf(after));
});

test('settings that need a restart are named and keep their value; the others apply', () => {
  const { config, changed, needsRestart } = from(
    '',
    'admin: { address: 127.0.0.1:9999 }\nlog: { format: json, level: warn }\nprobe: { interval: 2s }\nrelay: streams',
  );
  expect(changed.toSorted()).toEqual(['log.level info -> warn', 'probe.interval 1s -> 2s']);
  expect(needsRestart.toSorted()).toEqual([
    'admin.address 127.0.0.1:8432 -> 127.0.0.1:9999',
    'log.format auto -> json',
    'relay auto -> streams',
  ]);
  expect(config.admin).toEqual({ address: { host: '127.0.0.1', port: 8432 }, allowedHosts: [] });
  expect(config.log).toEqual({ level: 'warn', format: 'auto', access: 'off' });
});

test('a new sharing mode of a bound listener needs a restart', () => {
  const before = 'listeners: [{ address: 127.0.0.1:6432, pool: write }]';
  const { config, changed, needsRestart } = from(before, before.replace(' }', ', reuse_port: true }'));
  expect([changed, needsRestart]).toEqual([[], ['listeners']]);
  expect(config.listeners).toEqual(configOf(before).listeners);
});

test('a new mode of a Unix socket that is bound needs a restart', () => {
  const before = "listeners: [{ address: '/run/a:1', pool: write, unix_socket_mode: '0700' }]";
  const { config, changed, needsRestart } = from(before, before.replace('0700', '0770'));
  expect([changed, needsRestart, config.listeners[0]?.unixSocketMode]).toEqual([[], ['listeners'], 0o700]);
  expect(writtenForm(config.file)).toMatchObject({ listeners: [{ address: '/run/a:1', unix_socket_mode: '0700' }] });
});

test('another scope: the whole cluster section waits for a restart', () => {
  const { config, changed, needsRestart } = from(SEEDS, 'cluster: { scope: other, seeds: [http://pg2:8008] }');
  expect(changed).toEqual([]);
  expect(needsRestart.toSorted()).toEqual(['cluster.scope none -> other', 'cluster.seeds']);
  expect(config).toEqual(configOf(SEEDS));
});
