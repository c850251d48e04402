// The operator's token: its sources, its errors, and its absence from every message.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readAdminToken } from '../../../../src/config/files/admin-token.ts';
import { reconfigured } from '../../../../src/config/changes.ts';
import type { Config } from '../../../../src/config/config.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import type { LoadResult } from '../../../../src/config/load.ts';
import { formatProblems } from '../../../../src/config/fault.ts';

function load(admin: string, env: Readonly<Record<string, string>> = {}): LoadResult {
  const text = `cluster: { seeds: [http://pg1:8008] }\nadmin: ${admin}\n`;
  return loadConfig({ file: 'p.yaml', env, readFile: () => text });
}

function good(admin: string, env: Readonly<Record<string, string>> = {}): Config {
  const loaded = load(admin, env);
  if (loaded.kind === 'invalid') throw new Error(formatProblems(loaded.problems));
  return loaded.config;
}

const SECRET = '0123456789abcdef';

describe('in the configuration', () => {
  test.each([
    ['{ token: 0123456789abcde }', 'admin.token: is too short to be a secret: at least 16 characters'],
    ['{ token: 1234567890123456 }', 'admin.token: expected text in quotes; its value is not shown'],
    ['{ token: [0123456789abcdef] }', 'admin.token: expected text in quotes; its value is not shown'],
    ['{ token: "0123456789abcd f" }', 'admin.token: has spaces or characters that no HTTP header can carry'],
    ['{ token: 0123456789abcdef, token_file: x }', 'token and token_file both give the token: give one of the two'],
  ])('%s', (admin, message) => {
    const loaded = load(admin);
    const told = loaded.kind === 'invalid' ? formatProblems(loaded.problems) : '';
    expect(told).toContain(message);
    expect(told).not.toMatch(/012345|123456/);
  });

  test('from the environment', () => {
    expect(good('{}', { POINTSMAN_ADMIN_TOKEN: SECRET }).admin.token).toBe(SECRET);
    expect(good('{}', { POINTSMAN_ADMIN_TOKEN_FILE: '/run/secrets/token' }).admin.tokenFile).toBe('/run/secrets/token');
  });

  test('a reload reports a changed token without either value, and needs no restart', () => {
    const { changed, needsRestart } = reconfigured(good(`{ token: ${SECRET} }`), good(`{ token: x${SECRET} }`));
    expect([changed, needsRestart]).toEqual([['admin.token'], []]);
  });
});

describe('in a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-token-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  function written(text: string): string {
    const file = join(directory, 'token');
    writeFileSync(file, text);
    return file;
  }

  test('the line end in the file does not count', async () => {
    const tokenFile = written(`${SECRET}\n`);
    expect(await readAdminToken({ token: undefined, tokenFile })).toEqual({ kind: 'token', value: SECRET });
  });

  test.each([
    ['', 'cannot be used: its content is too short'],
    ['hunter2hunter2\n', 'cannot be used: its content is too short'],
    ['two words, sixteen', 'cannot be used: its content has spaces'],
  ])('%j is invalid', async (text, why) => {
    const read = await readAdminToken({ token: undefined, tokenFile: written(text) });
    expect(read).toEqual({ kind: 'unusable', why: expect.stringContaining(why) });
    expect(JSON.stringify(read)).not.toMatch(/hunter2|sixteen/);
  });

  test('no such file, a directory', async () => {
    const gone = await readAdminToken({ token: undefined, tokenFile: join(directory, 'gone') });
    expect(gone).toEqual({
      kind: 'unusable',
      why: expect.stringMatching(/gone cannot be read: there is no such file$/),
    });
    const folder = await readAdminToken({ token: undefined, tokenFile: directory });
    expect(folder).toEqual({ kind: 'unusable', why: expect.stringMatching(/cannot be read: it is a directory$/) });
  });

  test('neither', async () => {
    expect(await readAdminToken({ token: undefined, tokenFile: undefined })).toEqual({ kind: 'none' });
  });
});

test('allowed_hosts: names, from the file and from the environment, and a reload applies them', () => {
  expect(good('{ allowed_hosts: [metrics.example.com, "*"] }').admin.allowedHosts).toEqual([
    'metrics.example.com',
    '*',
  ]);
  expect(good('{}', { POINTSMAN_ADMIN_ALLOWED_HOSTS: 'a.example.com,b' }).admin.allowedHosts).toEqual([
    'a.example.com',
    'b',
  ]);
  expect(load('{ allowed_hosts: ["http://a"] }')).toMatchObject({ kind: 'invalid' });
  const { changed, needsRestart } = reconfigured(good('{}'), good('{ allowed_hosts: [a] }'));
  expect([changed, needsRestart]).toEqual([[expect.stringContaining('admin.allowed_hosts')], []]);
});
