import { expect, test } from 'vitest';
import { configHash } from '../../../src/config/config-hash.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';

function configOf(text: string, env: Readonly<Record<string, string>> = {}): Config {
  const loaded = loadConfig({ file: 'p.yaml', env, readFile: () => `cluster: { seeds: [http://pg1:8008] }\n${text}` });
  if (loaded.kind === 'invalid') throw new Error('invalid');
  return loaded.config;
}

test('equal values have equal hashes, wherever they are written; others have others', () => {
  const hash = configHash(configOf(''));
  expect(hash).toMatch(/^[0-9a-f]{16}$/);
  expect(configHash(configOf('probe: { interval: 1s }'))).toBe(hash);
  expect(configHash(configOf('', { POINTSMAN_PROBE_INTERVAL: '1000ms' }))).toBe(hash);
  expect(configHash(configOf('probe: { interval: 2s }'))).not.toBe(hash);
});

test('a secret does not change it', () => {
  const token = { POINTSMAN_ADMIN_TOKEN: '0123456789abcdef-secret' };
  expect(configHash(configOf('', token))).toBe(configHash(configOf('')));
});
