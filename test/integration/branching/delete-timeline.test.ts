import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBranchControl } from '../../../src/branching/control-branches.ts';
import type { BranchControl } from '../../../src/branching/control-branches.ts';
import { readNames } from '../../../src/branches/names-file.ts';
import type { Branch } from '../../../src/model/branch.ts';
import { startFakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import { quirksOf } from '../../support/branches/quirks.ts';
import { rounds } from '../../support/runner/ci.ts';
import { EagerClock } from '../../support/waiting/eager-clock.ts';

const NODES = rounds(40, 80);

let folder: string;
let namesFile: string;
let node: FakeStorageNode;
let control: BranchControl;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-delete-'));
  namesFile = join(folder, 'branches.json');
  await start();
});
afterEach(async () => {
  await node.stop();
  await rm(folder, { recursive: true });
});

async function start(quirks = {}): Promise<void> {
  node = await startFakeStorageNode(quirks);
  const { url, tenant } = node;
  control = createBranchControl(
    { kind: 'storage', url, tenant, namesFile, pgVersion: 17, headersFile: undefined },
    { clock: new EagerClock(), random: () => 1 },
  );
}

async function create(name: string, parent?: Branch): Promise<Branch> {
  const created = await control.create({ name, parent, waitMs: 60_000 });
  if (created.kind !== 'created') throw new Error(JSON.stringify(created));
  return created.branch;
}
const names = async () => (await readNames(namesFile, node.tenant)).map(({ name }) => name);
const deletions = () => node.requests.filter(({ method }) => method === 'DELETE');

test('a branch goes, and its name with it', async () => {
  const branch = await create('pr-1');
  expect(await control.remove(branch)).toEqual({ kind: 'removed' });
  expect(await names()).toEqual([]);
  expect([...node.timelines.keys()]).toEqual([node.root]);
  expect(node.violations).toEqual([]);
});

test('an accepted deletion is over when the timeline is listed no more', async () => {
  const branch = await create('pr-1');
  let lists = 0;
  node.script = ({ method }) => {
    if (method === 'DELETE') return { status: 202 };
    lists += 1;
    if (lists === 3) node.timelines.delete(branch.id);
    return undefined;
  };
  expect([await control.remove(branch), lists]).toEqual([{ kind: 'removed' }, 3]);
  expect(await names()).toEqual([]);
  const another = await create('pr-2');
  node.script = ({ method }) => (method === 'DELETE' ? { status: 202 } : undefined);
  expect(await control.remove(another)).toMatchObject({ kind: 'failed', why: expect.stringContaining('still listed') });
  expect(await names()).toEqual(['pr-2']);
});

test('after an accepted deletion, a list that fails is read again within the wait', async () => {
  const branch = await create('pr-1');
  let lists = 0;
  node.script = ({ method }) => {
    if (method === 'DELETE') return { status: 202 };
    lists += 1;
    if (lists === 2) return { status: 503 };
    if (lists === 3) return 'lost';
    if (lists === 4) node.timelines.delete(branch.id);
    return undefined;
  };
  expect([await control.remove(branch), lists]).toEqual([{ kind: 'removed' }, 4]);
  expect(await names()).toEqual([]);
  const another = await create('pr-2');
  node.script = ({ method }) => {
    if (method === 'DELETE') return { status: 202 };
    return deletions().length > 1 ? { status: 503 } : undefined;
  };
  const failed = { kind: 'failed', why: expect.stringMatching(/^the deletion is accepted, and .* 503/) };
  expect(await control.remove(another)).toMatchObject(failed);
  expect(await names()).toEqual(['pr-2']);
});

test('a branch with branches stays: no request is sent, and their names are the reason', async () => {
  const branch = await create('pr-1');
  await create('pr-1-b', branch);
  expect(await control.remove(branch)).toEqual({
    kind: 'failed',
    why: 'it has branches of its own: pr-1-b. Delete them first',
  });
  expect(deletions()).toEqual([]);
  expect(await names()).toEqual(['pr-1', 'pr-1-b']);
});

test('an unfinished branch counts as a branch, also before the node shows it', async () => {
  const branch = await create('pr-1');
  node.script = ({ method }) => (method === 'POST' ? { status: 503 } : undefined);
  await control.create({ name: 'pr-1-b', parent: branch, waitMs: 0 });
  expect(await control.remove(branch)).toMatchObject({ kind: 'failed', why: expect.stringContaining('pr-1-b') });
});

test('a deletion whose answer is lost is done when the list shows it', async () => {
  const branch = await create('pr-1');
  node.script = ({ method }) => {
    if (method !== 'DELETE') return undefined;
    node.timelines.delete(branch.id);
    return 'lost';
  };
  expect(await control.remove(branch)).toEqual({ kind: 'removed' });
  expect(await names()).toEqual([]);
});

test.each([400, 404, 409, 412, 500, 503])('%i is a failure, and the name stays', async (status) => {
  const branch = await create('pr-1');
  node.script = ({ method }) => (method === 'DELETE' ? { status } : undefined);
  expect(await control.remove(branch)).toMatchObject({ kind: 'failed', why: expect.stringContaining(`${status}`) });
  expect(await names()).toEqual(['pr-1']);
});

test('a source without deletions says so', async () => {
  control = createBranchControl(
    { kind: 'console', url: node.url, project: 'p', apiKeyFile: 'none' },
    { clock: new EagerClock(), random: () => 1 },
  );
  const branch = { id: 'br-1', name: 'pr-1', parentId: 'br-0' };
  expect(await control.remove(branch)).toMatchObject({ kind: 'failed', why: expect.stringContaining('no way') });
  expect(node.requests).toEqual([]);
});

test(`${NODES} storage nodes: a parent is refused, then child and parent go`, { timeout: 300_000 }, async () => {
  for (let seed = 0; seed < NODES; seed += 1) {
    await node.stop();
    namesFile = join(folder, `${seed}.json`);
    await start(quirksOf(seed));
    const branch = await create('pr-1');
    const child = await create('pr-1-b', branch);
    expect((await control.remove(branch)).kind, `seed ${seed}`).toBe('failed');
    expect((await control.remove(child)).kind, `seed ${seed}`).toBe('removed');
    expect((await control.remove(branch)).kind, `seed ${seed}`).toBe('removed');
    expect(node.timelines.size).toBe(1);
    expect(await names()).toEqual([]);
    expect(node.violations, `seed ${seed}`).toEqual([]);
  }
});
