// The configuration in effect, key by key: where each value comes from, and what equals its default.
import { expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { effectiveYaml } from '../../../../src/config/reference/effective.ts';
import { configDocument, listedSettings } from '../../../../src/config/reference/settings.ts';
import type { Setting } from '../../../../src/config/reference/settings.ts';
import { configOf, load, SEEDS } from '../../../support/values/loading.ts';

const TEXT = `cluster: { seeds: [http://pg1:8008] }
probe: { interval: 1s, timeout: 250ms }
pools:
  read: { fallback: { max_sessions: 5 } }
  reports: { check: "/replica?lag=1GB" }
client: { max_sessions: 20000 }
`;

function settingsOf(text: string, env = {}): ReadonlyMap<string, Setting> {
  return new Map(configDocument(configOf(load(text, env))).settings.map((one) => [one.key, one]));
}

test.each<[string, unknown, Setting['origin'], boolean]>([
  ['probe.timeout', '250ms', { kind: 'file', file: 'p.yaml', line: 2, column: 33 }, true],
  ['probe.interval', '1s', { kind: 'file', file: 'p.yaml', line: 2, column: 20 }, false],
  ['probe.rise', 1, { kind: 'default' }, false],
  ['hold.client_timeout', '10s', { kind: 'environment', variable: 'POINTSMAN_HOLD_CLIENT_TIMEOUT' }, true],
  ['pools.read.fallback.max_sessions', 5, { kind: 'file', file: 'p.yaml', line: 4, column: 37 }, true],
  ['pools.read.fallback.pool', 'write', { kind: 'default' }, false],
  ['pools.reports.check', '/replica?lag=1GB', { kind: 'file', file: 'p.yaml', line: 5, column: 21 }, true],
  ['pools.reports.exclusive', false, { kind: 'derived', from: 'pools.reports.check' }, false],
  ['pools.write.exclusive', true, { kind: 'default' }, false],
  ['pools.read.on_leave.dead', 'close', { kind: 'derived', from: 'pools.read.exclusive' }, false],
  ['client.max_handshakes', 5000, { kind: 'derived', from: 'client.max_sessions' }, false],
  ['cluster.seeds', ['http://pg1:8008'], { kind: 'file', file: 'p.yaml', line: 1, column: 19 }, true],
])('%s', (key, value, origin, changed) => {
  const settings = settingsOf(TEXT, { POINTSMAN_HOLD_CLIENT_TIMEOUT: '10s' });
  expect(settings.get(key)).toEqual({ key, value, origin, changed });
});

test('an option of the command line is named as such', () => {
  const env = { ...SEEDS, POINTSMAN_LOG_LEVEL: 'debug' };
  const config = configOf(loadConfig({ file: undefined, env, options: { POINTSMAN_LOG_LEVEL: '--log-level' } }));
  const { settings } = configDocument(config, true);
  expect(settings.map(({ key }) => key)).toEqual(['cluster.seeds', 'log.level']);
  expect(settings[1]?.origin).toEqual({ kind: 'command_line', option: '--log-level' });
});

test('the server of the Kubernetes API comes from the environment of the pod', () => {
  const settings = settingsOf('cluster: { scope: a, kubernetes: {} }', { KUBERNETES_SERVICE_HOST: '10.0.0.1' });
  expect(settings.get('cluster.kubernetes.server')?.origin).toEqual({
    kind: 'environment',
    variable: 'KUBERNETES_SERVICE_HOST',
  });
});

test('a secret has no value in any form, but its origin', () => {
  const config = configOf(load(TEXT, { POINTSMAN_ADMIN_TOKEN: 'secret-secret-secret' }));
  expect(JSON.stringify(configDocument(config))).not.toContain('secret-secret');
  expect(configDocument(config).settings.find(({ key }) => key === 'admin.token')).toEqual({
    key: 'admin.token',
    value: null,
    redacted: true,
    origin: { kind: 'environment', variable: 'POINTSMAN_ADMIN_TOKEN' },
    changed: true,
  });
});

test('one changed listener shows the whole list, because a list replaces the default', () => {
  const changed = configDocument(configOf(load(TEXT, { POINTSMAN_LISTENERS_0_ADDRESS: '*:5432' })), true);
  expect(changed.configuration['listeners']).toEqual([
    { address: '[::]:5432', pool: 'write' },
    { address: '127.0.0.1:6433', pool: 'read' },
  ]);
});

test('listeners that equal the default are not shown', () => {
  const text = `${TEXT}listeners: [{ address: 127.0.0.1:6432, pool: write }, { address: 127.0.0.1:6433, pool: read }]`;
  expect(configDocument(configOf(load(text, {})), true).configuration['listeners']).toBeUndefined();
});

test('the file with only the changes', () => {
  expect(effectiveYaml(configOf(load(TEXT, {})), true)).toBe(`cluster:
  seeds: [http://pg1:8008]               # p.yaml:1:19
probe:
  timeout: 250ms                         # p.yaml:2:33
pools:
  read:
    fallback:
      max_sessions: 5                    # p.yaml:4:37
  reports:
    check: /replica?lag=1GB              # p.yaml:5:21
client:
  max_sessions: 20000                    # p.yaml:6:25
`);
});

test('after a reload each value has the origin of the value in effect', () => {
  const before = configOf(load(`${TEXT}workers: 2\nlisteners: [{ address: "*:1", pool: read, reuse_port: true }]`));
  const after = configOf(
    load(`workers: 4\nlisteners: [{ address: "*:2", pool: read }, { address: "*:1", pool: read }]\n${TEXT}`),
  );
  const { settings } = configDocument(reconfigured(before, after).config);
  const at = (key: string): unknown => settings.find((one) => one.key === key);
  expect(at('workers')).toMatchObject({ value: 2, origin: { line: 7 } });
  expect(at('probe.timeout')).toMatchObject({ origin: { line: 4 } });
  expect(at('listeners[1].reuse_port')).toMatchObject({ value: true, origin: { line: 8 } });
  expect(at('listeners[0].reuse_port')).toMatchObject({ value: false, origin: { kind: 'default' } });
});

test('as a list of texts each setting has its default, and whether a reload changes it', () => {
  const config = configOf(load(TEXT, { POINTSMAN_ADMIN_TOKEN: 'secret-secret-secret' }));
  const listed = new Map(listedSettings(config).map(({ key, ...rest }) => [key, rest]));
  expect(listed.get('probe.timeout')).toEqual({ value: '250ms', default: '800ms', changeable: true });
  expect(listed.get('workers')).toEqual({ value: '1', default: '1', changeable: false });
  expect(listed.get('client.max_handshakes')).toEqual({ value: '5000', default: null, changeable: true });
  expect(listed.get('cluster.seeds')).toEqual({ value: '["http://pg1:8008"]', default: null, changeable: true });
  expect(listed.get('admin.token')).toMatchObject({ value: '(not shown)', default: null });
});
