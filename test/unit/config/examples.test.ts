// The examples in config/ load without a warning and do what their comments promise.
import { expect, test } from 'vitest';
import { valuesOf } from '../../support/values/loading.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/fault.ts';

function load(name: string): ReturnType<typeof loadConfig> {
  const file = new URL(`../../../config/${name}`, import.meta.url).pathname;
  return loadConfig({ file, env: {} });
}

test.each([
  'pointsman.yaml',
  'example.yaml',
  'sidecar.yaml',
  'dns.yaml',
  'kubernetes.yaml',
  'branches.yaml',
  'moves.yaml',
])('%s loads', (name) => {
  const loaded = load(name);
  expect(loaded.kind === 'ok' ? loaded.warnings : formatProblems(loaded.problems)).toEqual([]);
});

test('pointsman.yaml changes no default', () => {
  const env = { POINTSMAN_CLUSTER_SEEDS: 'http://10.0.0.11:8008,http://10.0.0.12:8008' };
  expect(valuesOf(load('pointsman.yaml'))).toEqual(valuesOf(loadConfig({ file: undefined, env })));
});

test('sidecar.yaml accepts connections from its own pod only', () => {
  const loaded = load('sidecar.yaml');
  const hosts = loaded.kind === 'ok' ? loaded.config.listeners.map((listener) => listener.address.host) : [];
  expect(hosts).toEqual(['127.0.0.1', '127.0.0.1']);
});

test('the image’s own file needs only the members, and listens on the container’s network', () => {
  const file = new URL('../../../deploy/image/pointsman.yaml', import.meta.url).pathname;
  const loaded = loadConfig({ file, env: { POINTSMAN_CLUSTER_SEEDS: 'http://10.0.0.11:8008' } });
  expect(loaded.kind === 'ok' ? loaded.warnings : formatProblems(loaded.problems)).toEqual([]);
  const config = loaded.kind === 'ok' ? loaded.config : undefined;
  expect(config?.listeners.map(({ address, pool }) => `${address.host} ${address.port} ${pool}`)).toEqual([
    ':: 6432 write',
    ':: 6433 read',
  ]);
  expect(config?.admin.address).toEqual({ host: '::', port: 8432 });
});
