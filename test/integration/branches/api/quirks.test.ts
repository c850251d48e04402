// Both clients against servers that differ in everything that the contract leaves open.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createConsoleClient } from '../../../../src/branches/api/console-client.ts';
import { createStorageClient } from '../../../../src/branches/api/storage-client.ts';
import { startFakeConsole } from '../../../support/branches/fake-console.ts';
import { startFakeStorageNode } from '../../../support/branches/fake-storage-node.ts';
import { quirksOf } from '../../../support/branches/quirks.ts';

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);
/** Hundreds of servers, on a machine that may be busy. */
const LONG = { timeout: 300_000 };
const ID = 'ab'.repeat(16);
const LSN = '0/1600000';

test('200 storage nodes: a timeline is created, listed, and keeps its parent from being deleted', LONG, async () => {
  for (const seed of SEEDS) {
    const node = await startFakeStorageNode(quirksOf(seed));
    const client = createStorageClient(node);
    const answers: string[] = [];
    while (answers.at(-1) !== 'durable' && answers.length < 10) {
      answers.push((await client.createTimeline({ id: ID, parentId: node.root, parentLsn: LSN, pgVersion: 17 })).kind);
    }
    expect(answers.at(-1), `seed ${seed}`).toBe('durable');
    const timelines = await client.timelines();
    expect(timelines.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      // Some nodes report `0/0` for a root.
      { id: node.root, parentId: undefined, parentLsn: undefined, lastRecordLsn: expect.any(String) },
      { id: ID, parentId: node.root, parentLsn: LSN, lastRecordLsn: LSN },
    ]);
    expect(await client.timeline(ID)).toEqual(timelines.find(({ id }) => id === ID));
    await expect(client.deleteTimeline(node.root)).rejects.toThrow('status');
    await client.deleteTimeline(ID);
    expect(await client.timeline(ID)).toBeUndefined();
    expect(node.violations, `seed ${seed}`).toEqual([]);
    await node.stop();
  }
});

test('200 consoles: a branch is created and listed', LONG, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pointsman-quirks-'));
  const apiKeyFile = join(folder, 'key');
  for (const seed of SEEDS) {
    const fake = await startFakeConsole(quirksOf(seed));
    await writeFile(apiKeyFile, fake.apiKey);
    const client = createConsoleClient({ ...fake, apiKeyFile });
    const found = async () => (await client.branches()).find(({ name }) => name === 'pr-1');
    for (let tries = 0; (await found()) === undefined && tries < 10; tries += 1) {
      if (fake.branches.length === 1) await client.createBranch({ name: 'pr-1', endpoints: ['read_only'] });
    }
    const { hasEndpoints } = quirksOf(seed);
    expect(await found(), `seed ${seed}`).toMatchObject({
      parentId: fake.root,
      hasReadEndpoint: hasEndpoints ? true : undefined,
    });
    expect(fake.violations, `seed ${seed}`).toEqual([]);
    await fake.stop();
  }
  await rm(folder, { recursive: true });
});
