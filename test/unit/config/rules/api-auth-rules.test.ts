// cluster.api.auth: its sources, its errors, and its absence from every message and document.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import type { Config } from '../../../../src/config/config.ts';
import { formatProblems } from '../../../../src/config/fault.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { configDocument } from '../../../../src/config/reference/settings.ts';
import { effectiveYaml } from '../../../../src/config/reference/effective.ts';

const directory = mkdtempSync(join(tmpdir(), 'pointsman-auth-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'password');
writeFileSync(file, 'hunter2\n');

const PASSWORD = { POINTSMAN_CLUSTER_API_AUTH_PASSWORD: 'hunter2' };

function load(auth: string, env: Readonly<Record<string, string>> = {}) {
  const text = `cluster:\n  seeds: [http://pg1:8008]\n  api: { auth: ${auth} }\n`;
  return loadConfig({ file: 'p.yaml', env, readFile: () => text });
}

function good(auth: string, env: Readonly<Record<string, string>> = {}): Config {
  const loaded = load(auth, env);
  if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

function messages(auth: string, env?: Readonly<Record<string, string>>): string {
  const loaded = load(auth, env);
  return formatProblems(loaded.kind === 'invalid' ? loaded.problems : loaded.warnings);
}

test('the password comes from a file or from the environment', () => {
  expect(good(`{ username: admin, password_file: ${file} }`).cluster.api.auth).toEqual({
    username: 'admin',
    password: undefined,
    passwordFile: file,
  });
  expect(good('{ username: admin }', PASSWORD).cluster.api.auth?.password).toBe('hunter2');
  expect(messages('{ username: admin }', PASSWORD)).toBe('');
});

test.each([
  ['{ password_file: /x }', 'cluster.api.auth.username: is missing'],
  ['{ username: "a:b" }', 'cluster.api.auth.username: expected a user name without a colon'],
  ['{ username: a, password: 2222222 }', 'cluster.api.auth.password: expected text in quotes; its value is not shown'],
  ['{ username: a, password: "hunter2\\n" }', 'cluster.api.auth.password: has a line end'],
  ['{ username: a, password: hunter2, password_file: /x }', 'password and password_file both give the password'],
  ['{ username: a, password_file: /nope }', '/nope cannot be read: there is no such file'],
  ['{ username: a }', 'has no password, so operations on the cluster will fail'],
])('%s', (auth, message) => {
  expect(messages(auth)).toContain(message);
  expect(messages(auth)).not.toMatch(/hunter2|2222222/);
});

test('no document shows the password, and a reload reports its change without either value', () => {
  const config = good('{ username: admin }', PASSWORD);
  expect(effectiveYaml(config)).not.toContain('hunter2');
  expect(effectiveYaml(config)).toContain('# cluster.api.auth.password is set and not shown');
  expect(JSON.stringify(configDocument(config))).not.toContain('hunter2');
  const next = good('{ username: admin }', { POINTSMAN_CLUSTER_API_AUTH_PASSWORD: 'hunter3' });
  const { changed, needsRestart } = reconfigured(config, next);
  expect([changed, needsRestart]).toEqual([['cluster.api.auth.password'], []]);
});
