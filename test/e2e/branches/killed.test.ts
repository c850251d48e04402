// kill -9 of `pointsman branches create` while the sandbox makes the branch, and the same command again.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBranchList } from '../../../src/branches/list-branches.ts';
import { readNames } from '../../../src/branches/names-file.ts';
import type { BranchSourcePolicy } from '../../../src/model/branch.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startKeptSandbox } from '../../support/sandbox/kept-cluster.ts';
import { Command } from '../../support/processes/command.ts';
import { until } from '../../support/waiting/until.ts';

const LIMIT_MS = 120_000;

let folder: string;
let sandbox: Sandbox;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-killed-'));
  sandbox = await startKeptSandbox({ branches: true });
}, LIMIT_MS);
afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true });
}, LIMIT_MS);

test('the same command goes on with the same timeline', { timeout: 2 * LIMIT_MS }, async () => {
  const { storageUrl, tenant, pgMajor, rootTimeline } = sandbox.branches ?? expect.fail('no branches');
  const namesFile = join(folder, 'names.json');
  const config = join(folder, 'config.yaml');
  const storage = { url: storageUrl, tenant, names_file: namesFile, pg_version: pgMajor };
  const branches = { source: 'storage', storage, backends: { template: '{id}.example:5432' } };
  await writeFile(config, JSON.stringify({ cluster: { seeds: ['http://127.0.0.1:8008'] }, branches }));
  const create = () => new Command(['branches', 'create', 'pr-1', '-c', config]);

  const killed = create();
  const intent = await until('the intent', async () => (await readNames(namesFile, tenant))[0], LIMIT_MS);
  await killed.stop();
  expect(await killed.code, killed.output).toBe('SIGKILL');

  const again = create();
  expect(await again.code, again.output).toBe(0);
  expect(await readNames(namesFile, tenant)).toEqual([{ ...intent, isPending: false }]);
  const source: BranchSourcePolicy = {
    kind: 'storage',
    url: storageUrl,
    tenant,
    namesFile,
    pgVersion: pgMajor,
    headersFile: undefined,
  };
  expect(await readBranchList(source)).toMatchObject([
    { id: rootTimeline },
    { id: intent.id, name: 'pr-1', parentLsn: intent.parentLsn },
  ]);
});
