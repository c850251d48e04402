// The keys of both APIs appear nowhere: not in the output of a command, whatever the API answers, and not in its
// arguments.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeConsole } from '../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../support/branches/fake-console.ts';
import type { FakeAnswer } from '../../support/branches/fake-server.ts';
import { startFakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import { Command } from '../../support/processes/command.ts';
import { BRANCHES_KEY, expectNoCanary, STORAGE_TOKEN } from '../../support/values/canaries.ts';

const LONG = { timeout: 300_000 };

let folder: string;
let fake: FakeConsole;
let node: FakeStorageNode;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-secrets-'));
  fake = await startFakeConsole({ freeBody: 'json_error' });
  node = await startFakeStorageNode({ freeBody: 'text' });
  await writeFile(join(folder, 'key'), fake.apiKey);
  await writeFile(join(folder, 'headers'), `authorization: Bearer ${STORAGE_TOKEN}`);
});
afterEach(async () => {
  await Promise.all([fake.stop(), node.stop()]);
  await rm(folder, { recursive: true });
});

async function outputOf(branches: object, ...args: readonly string[]): Promise<string> {
  const config = join(folder, 'config.yaml');
  await writeFile(config, JSON.stringify({ cluster: { seeds: ['http://127.0.0.1:8008'] }, branches }));
  const command = new Command(['branches', ...args, '-c', config]);
  await command.code;
  expect(command.output).not.toBe('');
  return command.output;
}

test.each<[string, FakeAnswer | undefined]>([
  ['what the contract says', undefined],
  ['401', { status: 401 }],
  ['500', { status: 500 }],
  ['a document with the key in it', { status: 200, document: { branches: BRANCHES_KEY } }],
  ['nothing', 'lost'],
])('a command about an API that answers %s', LONG, async (_, answer) => {
  const backends = { template: '{id}.example:5432' };
  const access = { url: fake.url, project: fake.project, api_key_file: join(folder, 'key') };
  const hosted = { source: 'console', console: access, backends };
  const storage = {
    url: node.url,
    tenant: node.tenant,
    names_file: join(folder, 'names.json'),
    pg_version: 17,
    headers_file: join(folder, 'headers'),
  };
  const own = { source: 'storage', storage, backends };
  fake.script = () => answer;
  node.script = () => answer;
  const outputs = [
    await outputOf(hosted, 'list'),
    await outputOf(hosted, 'create', 'pr-1', '--wait', '1s'),
    await outputOf(own, 'list', '--json'),
    await outputOf(own, 'create', 'pr-1', '--wait', '1s'),
  ];
  // Both servers have seen them, so there was something to leak.
  expect(fake.requests[0]?.headers.authorization).toBe(`Bearer ${fake.apiKey}`);
  expect(node.requests[0]?.headers.authorization).toBe(`Bearer ${STORAGE_TOKEN}`);
  expectNoCanary('a command', outputs.join(''));
  expect(outputs.join('')).not.toContain('hidden-in-a-body');
});
