import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createConsoleClient } from '../../../../src/branches/api/console-client.ts';
import type { ConsoleClient } from '../../../../src/branches/api/console-client.ts';
import { startFakeConsole } from '../../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../../support/branches/fake-console.ts';

let folder: string;
let apiKeyFile: string;
let fake: FakeConsole;
let client: ConsoleClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-console-'));
  apiKeyFile = join(folder, 'key');
  fake = await startFakeConsole();
  await writeFile(apiKeyFile, `${fake.apiKey}\n`);
  client = createConsoleClient({ ...fake, apiKeyFile });
});
afterEach(async () => {
  await fake.stop();
  await rm(folder, { recursive: true });
});

test('a new branch shows in the list, with its parent', async () => {
  expect(await client.createBranch({ name: 'pr-1', endpoints: ['read_write'] })).toEqual({ kind: 'accepted' });
  expect(await client.branches()).toEqual([
    expect.objectContaining({ name: 'main', parentId: undefined, hasReadEndpoint: undefined }),
    expect.objectContaining({ name: 'pr-1', parentId: fake.root, parentLsn: '0/169AD58' }),
  ]);
  expect(fake.violations).toEqual([]);
});

test('without a parent the request names none: the console takes its default branch', async () => {
  await client.createBranch({ name: 'pr-1' });
  expect(fake.requests[0]?.body).toBe('{"branch":{"name":"pr-1"}}');
});

test.each([
  [200, 'accepted'],
  [201, 'accepted'],
  [202, 'accepted'],
  [204, 'accepted'],
  [307, 'refused'],
  [400, 'refused'],
  [401, 'refused'],
  [404, 'refused'],
  [422, 'refused'],
  [409, 'unclear'],
  [423, 'later'],
  [429, 'later'],
  [500, 'unclear'],
  [503, 'unclear'],
])('a creation that is answered with %i is %s', async (status, kind) => {
  fake.script = () => ({ status });
  expect((await client.createBranch({ name: 'pr-1' })).kind).toBe(kind);
});

test('a creation whose answer is lost is unclear', async () => {
  fake.script = () => 'lost';
  expect((await client.createBranch({ name: 'pr-1' })).kind).toBe('unclear');
});

test.each([
  [301, 'rejected'],
  [401, 'denied'],
  [403, 'denied'],
  [404, 'rejected'],
  [500, 'server_error'],
])('a list that is answered with %i has the failure %s', async (status, failure) => {
  fake.script = () => ({ status });
  await expect(client.branches()).rejects.toMatchObject({ failure, status });
});

describe('the key', () => {
  test('counts anew at each request: a rotated key needs no restart', async () => {
    await writeFile(apiKeyFile, 'an-old-key');
    await expect(client.branches()).rejects.toThrow(
      'GET /api/v2/projects/calm-sea-1234/branches of the console: status 401: it does not accept the credentials',
    );
    await writeFile(apiKeyFile, fake.apiKey);
    expect(await client.branches()).toHaveLength(1);
  });

  test.each(['', '\n', 'two words', 'two\nlines', 'not ascii: \u00e9'])(
    '%j is refused, without showing it',
    async (key) => {
      await writeFile(apiKeyFile, key);
      await expect(client.branches()).rejects.toThrow(`${apiKeyFile} holds no key: write the key alone, on one line`);
      await expect(client.createBranch({ name: 'pr-1' })).rejects.toThrow('holds no key');
      expect(fake.requests).toEqual([]);
    },
  );

  test('no error shows it, or a body of the console', async () => {
    fake.script = () => ({ status: 500, document: { password: 'hidden-in-a-body' } });
    const errors = [await client.branches().catch(String), await client.createBranch({ name: 'pr-1' })];
    expect(JSON.stringify(errors)).not.toMatch(/hidden-in-a-body|key-which/);
  });
});
