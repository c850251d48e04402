// Durable creation on a storage node: exactly one timeline, whatever the node does.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createStorageClient } from '../../../src/branches/api/storage-client.ts';
import { attemptsFor } from '../../../src/branching/attempts.ts';
import { createBranchControl } from '../../../src/branching/control-branches.ts';
import { createTimeline } from '../../../src/branching/create-timeline.ts';
import type { BranchWish } from '../../../src/branching/branch-wish.ts';
import { readBranchList } from '../../../src/branches/list-branches.ts';
import { readNames } from '../../../src/branches/names-file.ts';
import { tryLock } from '../../../src/branching/locked-names.ts';
import type { Clock } from '../../../src/model/instant.ts';
import { startFakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import { quirksOf, randomFrom } from '../../support/branches/quirks.ts';
import type { Quirks } from '../../support/branches/quirks.ts';
import { EagerClock } from '../../support/waiting/eager-clock.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';

let folder: string;
let namesFile: string;
let node: FakeStorageNode;
let clock: EagerClock;
let clockInUse: Clock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-create-'));
  namesFile = join(folder, 'branches.json');
  clock = new EagerClock();
  clockInUse = clock;
  node = await startFakeStorageNode();
});
afterEach(async () => {
  await node.stop();
  await rm(folder, { recursive: true });
});

async function withQuirks(quirks: Partial<Quirks>): Promise<void> {
  await node.stop();
  node = await startFakeStorageNode(quirks);
}

const create = (wish: Partial<BranchWish> = {}) =>
  createBranchControl(
    { ...SOURCE, url: node.url, tenant: node.tenant, namesFile },
    { clock: clockInUse, random: () => 1 },
  ).create({ name: 'pr-1', waitMs: 60_000, ...wish });
const names = () => readNames(namesFile, node.tenant);
const list = () => readBranchList({ ...SOURCE, url: node.url, tenant: node.tenant, namesFile });
const SOURCE = { kind: 'storage', pgVersion: 17, headersFile: undefined } as const;
const posts = () => node.requests.filter(({ method }) => method === 'POST');
const parentOf = (id: string) => ({ id, name: 'a parent' });

/** One timeline beside the root, with the name, and nothing unfinished. */
async function expectOne(name = 'pr-1'): Promise<void> {
  const [entry, ...more] = await names();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ name, isPending: false });
  expect([...node.timelines.keys()]).toEqual([node.root, entry?.id]);
  expect(node.violations).toEqual([]);
}

test('a branch starts at the position of the only root, and has its name in the list', async () => {
  expect(await create()).toMatchObject({
    kind: 'created',
    isNew: true,
    branch: { name: 'pr-1', parentLsn: '0/169AD58' },
  });
  await expectOne();
  expect(await list()).toMatchObject([
    { name: node.root },
    { name: 'pr-1', parentId: node.root, parentLsn: '0/169AD58' },
  ]);
});

test('the same command again finds the branch', async () => {
  const first = await create();
  const again = await create();
  expect(again).toMatchObject({ kind: 'created', isNew: false });
  expect(again.kind === 'created' && again.branch).toEqual(first.kind === 'created' && first.branch);
  expect(posts()).toHaveLength(1);
});

test('a branch of a branch, at an earlier position', async () => {
  await create();
  const [parent] = await names();
  const child = await create({ name: 'pr-1-b', parent: parentOf(parent?.id ?? ''), lsn: '0/1600000' });
  expect(child).toMatchObject({ kind: 'created', branch: { parentId: parent?.id, parentLsn: '0/1600000' } });
});

test('two at once make one branch', async () => {
  clockInUse = systemClock;
  const both = await Promise.all([create(), create()]);
  expect(both.filter((one) => one.kind === 'created')).toHaveLength(2);
  expect(both.filter((one) => one.kind === 'created' && one.isNew)).toHaveLength(1);
  await expectOne();
});

describe('a node that creates slowly', () => {
  test.each([409, 429, 500, 502, 503, 504])('%i is followed by the same request', async (status) => {
    await withQuirks({ whileCreating: [status, status, status] });
    expect((await create()).kind).toBe('created');
    await expectOne();
    expect(new Set(posts().map(({ body }) => body)).size).toBe(1);
    expect(clock.pauses).toEqual([500, 1000, 2000]);
  });

  test('a parent that advances changes nothing: every request names the same position', async () => {
    await withQuirks({ whileCreating: [503, 503], isParentAdvancing: true, lostAfter: new Set([0]) });
    expect((await create()).kind).toBe('created');
    await expectOne();
    expect(new Set(posts().map(({ body }) => body)).size).toBe(1);
  });

  test('a branch that may not last is in no list, and the same command later continues with it', async () => {
    await withQuirks({ whileCreating: Array.from({ length: 30 }, () => 503) });
    expect(await create({ waitMs: 20_000 })).toMatchObject({ kind: 'unfinished', why: expect.stringMatching(/503/) });
    expect(await names()).toMatchObject([{ name: 'pr-1', isPending: true }]);
    expect(node.timelines.size).toBe(2);
    expect(await list()).toMatchObject([{ name: node.root }]);
    expect((await create({ waitMs: 600_000 })).kind).toBe('created');
    await expectOne();
    expect(new Set(posts().map(({ body }) => body)).size).toBe(1);
  });

  test('pauses grow to 10 s, and the last request is at the deadline', async () => {
    await withQuirks({ whileCreating: Array.from({ length: 30 }, () => 503) });
    await create({ waitMs: 40_000 });
    expect(clock.pauses).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 4500]);
  });

  test('other arguments are refused while a creation is unfinished', async () => {
    await withQuirks({ whileCreating: [503, 503, 503] });
    await create({ waitMs: 0, lsn: '0/1600000' });
    expect(await create({ lsn: '0/1500000' })).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/finish it with --parent 0{31}1 --at 0\/1600000, then delete it/),
    });
    // The same position in another spelling.
    expect((await create({ lsn: '0/01600000' })).kind).toBe('created');
    await expectOne();
  });
});

test('a node that needs longer gets longer; the last request ends at the deadline', async () => {
  const client = createStorageClient(node);
  const limits: (number | undefined)[] = [];
  const slow: typeof client.createTimeline = (_, limitMs) => {
    limits.push(limitMs);
    const { promise, resolve } = Promise.withResolvers<{ kind: 'unclear'; why: string }>();
    clock.schedule(limitMs ?? 0, () => resolve({ kind: 'unclear', why: 'no whole answer' }));
    return promise;
  };
  const source = { tenant: node.tenant, namesFile, pgVersion: 17 };
  const attempts = attemptsFor(60_000, { clock, random: () => 1 });
  const wish = { name: 'pr-1', waitMs: 60_000 };
  const created = await createTimeline(wish, { ...client, createTimeline: slow }, source, attempts);
  expect([created.kind, limits]).toEqual(['unfinished', [10_000, 30_000, 18_500]]);
});

describe('answers that end it', () => {
  test('406 leaves nothing', async () => {
    const document = { msg: 'no such position' };
    node.script = ({ method }) => (method === 'POST' ? { status: 406, document } : undefined);
    expect(await create({ lsn: '7/0' })).toMatchObject({
      kind: 'refused',
      why: expect.stringMatching(/406.*ahead of.*no such position/),
    });
    expect(await names()).toEqual([]);
    expect(node.timelines.size).toBe(1);
  });

  test('406 after a creation whose answer was lost keeps the name', async () => {
    await withQuirks({ lostAfter: new Set([0]) });
    await create({ waitMs: 0 });
    node.script = ({ method }) => (method === 'POST' ? { status: 406 } : undefined);
    expect((await create()).kind).toBe('refused');
    expect(await names()).toMatchObject([{ name: 'pr-1', isPending: true }]);
  });

  test.each([400, 401, 403, 404])('%i stops with its reason, and keeps the intent', async (status) => {
    const document = { msg: 'no such shard' };
    node.script = ({ method }) => (method === 'POST' ? { status, document } : undefined);
    const why = new RegExp(`status ${status}.*; it answers: {"msg":"no such shard"}$`);
    expect(await create()).toMatchObject({ kind: 'failed', why: expect.stringMatching(why) });
    expect(posts()).toHaveLength(1);
    node.script = () => undefined;
    expect((await create()).kind).toBe('created');
    await expectOne();
    expect(new Set(posts().map(({ body }) => body)).size).toBe(1);
  });

  test('an id that another timeline has is replaced once', async () => {
    node.script = (request) => {
      // The first id turns out to be taken, at the moment of the request.
      if (request.method === 'POST' && posts().length === 1) node.addTimeline({ id: idIn(request.body) });
      return undefined;
    };
    expect((await create()).kind).toBe('created');
    expect(posts()).toHaveLength(2);
    expect(clock.pauses).toEqual([]);
    expect(await names()).toMatchObject([{ id: idIn(posts()[1]?.body ?? ''), isPending: false }]);
  });

  test('two ids in a row that others have are a failure', async () => {
    node.script = (request) => {
      if (request.method === 'POST') node.addTimeline({ id: idIn(request.body) });
      return undefined;
    };
    expect(await create()).toMatchObject({ kind: 'failed', why: expect.stringContaining('two new ids') });
    expect(posts()).toHaveLength(2);
  });

  test('409 for ever, for ids that are not listed: another id after 30 s, and a failure in the end', async () => {
    node.script = ({ method }) => (method === 'POST' ? { status: 409, document: { msg: 'taken' } } : undefined);
    const ended = await create({ waitMs: 50_000 });
    expect(ended).toMatchObject({
      kind: 'failed',
      why: expect.stringMatching(/409.*taken.*does not list the timeline/),
    });
    expect(new Set(posts().map(({ body }) => idIn(body))).size).toBe(2);
    node.script = () => undefined;
    expect((await create()).kind).toBe('created');
    await expectOne();
  });

  test('409 for a position that the node has rounded up is its own timeline', async () => {
    node.script = (request) => {
      if (request.method === 'POST' && posts().length === 1) {
        node.addTimeline({ id: idIn(request.body), ancestorId: node.root, ancestorLsn: '0/1600008' });
        return { status: 409 };
      }
      return request.method === 'POST' ? { status: 201 } : undefined;
    };
    expect((await create({ lsn: '0/1600003' })).kind).toBe('created');
    await expectOne();
  });
});

describe('arguments', () => {
  test('several roots: a parent has to be named', async () => {
    node.addTimeline({});
    expect(await create()).toMatchObject({ kind: 'refused', why: expect.stringContaining('several roots') });
    expect(await names()).toEqual([]);
  });

  test('a parent that is gone is refused', async () => {
    expect((await create({ parent: parentOf('f'.repeat(32)) })).kind).toBe('refused');
  });

  test('a name in the form of an id is refused', async () => {
    expect((await create({ name: 'A'.repeat(32) })).kind).toBe('refused');
  });

  test('an existing branch with another parent or position is refused', async () => {
    await create();
    expect(await create({ lsn: '0/1500000' })).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('0/169AD58'),
    });
    expect((await create({ parent: parentOf('f'.repeat(32)) })).kind).toBe('refused');
    expect(posts()).toHaveLength(1);
  });

  test('a name whose timeline was deleted elsewhere is free again', async () => {
    await create();
    const [old] = await names();
    node.timelines.delete(old?.id ?? '');
    expect(await create()).toMatchObject({ kind: 'created', isNew: true });
    await expectOne();
  });
});

describe('the names file', () => {
  test.each(['', '{', '[]', '{"tenant":"x"}'])('%j is no empty file: nothing is created', async (text) => {
    await writeFile(namesFile, text);
    expect(await create()).toMatchObject({ kind: 'failed', why: expect.stringMatching(/is not a file of names/) });
    expect(node.requests).toEqual([]);
    expect(await readFile(namesFile, 'utf8')).toBe(text);
  });

  test('another tenant’s file is refused', async () => {
    await writeFile(namesFile, JSON.stringify({ tenant: 'other', timelines: [] }));
    expect(await create()).toMatchObject({ kind: 'failed', why: expect.stringMatching(/another tenant/) });
  });

  test('a folder that does not exist is named', async () => {
    namesFile = join(folder, 'none', 'branches.json');
    expect(await create()).toMatchObject({ kind: 'failed', why: expect.stringMatching(/lock cannot be locked/) });
  });

  test('a lock that another holds until the deadline ends it before any request', async () => {
    const unlock = await tryLock(namesFile);
    expect(await create()).toMatchObject({ kind: 'unfinished', why: expect.stringMatching(/another command/) });
    expect(node.requests).toEqual([]);
    unlock?.();
    expect((await create()).kind).toBe('created');
  });
});

test('200 storage nodes: one timeline each, after at most three runs', { timeout: 300_000 }, async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    await withQuirks(quirksOf(seed));
    namesFile = join(folder, `${seed}.json`);
    const random = randomFrom(seed);
    const kinds: string[] = [];
    while (kinds.at(-1) !== 'created' && kinds.length < 3) {
      kinds.push((await create({ waitMs: kinds.length === 2 ? 60_000 : Math.floor(random() * 3000) })).kind);
    }
    expect(kinds.at(-1), `seed ${seed}: ${kinds.join()}`).toBe('created');
    await expectOne();
    expect(new Set(posts().map(({ body }) => body)).size, `seed ${seed}`).toBe(1);
  }
});

function idIn(body: string): string {
  const [, id = ''] = /"new_timeline_id":"(\w+)"/.exec(body) ?? [];
  return id;
}
