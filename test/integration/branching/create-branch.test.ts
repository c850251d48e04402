// Creation at a console, which does not say that a request can be repeated: the list decides.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBranchControl } from '../../../src/branching/control-branches.ts';
import type { BranchWish } from '../../../src/branching/branch-wish.ts';
import { startFakeConsole } from '../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../support/branches/fake-console.ts';
import { quirksOf } from '../../support/branches/quirks.ts';
import type { Quirks } from '../../support/branches/quirks.ts';
import { EagerClock } from '../../support/waiting/eager-clock.ts';

let folder: string;
let apiKeyFile: string;
let fake: FakeConsole;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pointsman-create-'));
  apiKeyFile = join(folder, 'key');
  fake = await startFakeConsole();
  await writeFile(apiKeyFile, fake.apiKey);
});
afterEach(async () => {
  await fake.stop();
  await rm(folder, { recursive: true });
});

async function withQuirks(quirks: Partial<Quirks>): Promise<void> {
  await fake.stop();
  fake = await startFakeConsole(quirks);
}

const create = (wish: Partial<BranchWish> = {}) =>
  createBranchControl({ kind: 'console', ...fake, apiKeyFile }, { clock: new EagerClock(), random: () => 1 }).create({
    name: 'pr-1',
    waitMs: 60_000,
    ...wish,
  });
const posts = () => fake.requests.filter(({ method }) => method === 'POST');
const made = () => fake.branches.filter(({ name }) => name === 'pr-1');

test('a branch is created with its endpoints and found in the list', async () => {
  expect(await create({ schemaOnly: true, endpoints: ['read_write', 'read_only'] })).toMatchObject({
    kind: 'created',
    isNew: true,
    branch: { name: 'pr-1', parentId: fake.root },
  });
  expect(made()).toMatchObject([{ isSchemaOnly: true, endpoints: ['read_write', 'read_only'] }]);
  expect(fake.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
});

test('the same command again finds the branch', async () => {
  await create();
  expect(await create()).toMatchObject({ kind: 'created', isNew: false });
  expect(posts()).toHaveLength(1);
});

test('a lost answer is no reason for a second branch', async () => {
  await withQuirks({ lostAfter: new Set([0]), listsUntilShown: 2 });
  expect((await create()).kind).toBe('created');
  expect(posts()).toHaveLength(1);
  expect(made()).toHaveLength(1);
});

test('an answer that leaves it open is no reason for a second branch, however late the list is', async () => {
  await withQuirks({ lostAfter: new Set([0]), listsUntilShown: 9 });
  expect((await create()).kind).toBe('created');
  expect([posts().length, made().length]).toEqual([1, 1]);
  await withQuirks({ lostBefore: new Set([0]) });
  expect(await create()).toMatchObject({ kind: 'unfinished', why: expect.stringContaining('connection closed') });
  expect(posts()).toHaveLength(1);
  // The next command looks first.
  expect(await create()).toMatchObject({ kind: 'created', isNew: true });
  expect(made()).toHaveLength(1);
});

test.each([423, 429])('%i says that nothing is done: the request is sent again after three lists', async (status) => {
  fake.script = ({ method }) => (method === 'POST' && posts().length === 1 ? { status } : undefined);
  expect((await create()).kind).toBe('created');
  expect(fake.requests.map(({ method }) => method).join(' ')).toBe('GET POST GET GET GET POST GET');
});

test('while the list cannot be read, nothing is sent again', async () => {
  await withQuirks({ lostAfter: new Set([0]) });
  fake.script = ({ method }) => (method === 'GET' && posts().length > 0 ? { status: 503 } : undefined);
  expect((await create()).kind).toBe('unfinished');
  expect(posts()).toHaveLength(1);
  fake.script = () => undefined;
  expect(await create()).toMatchObject({ kind: 'created', isNew: false });
});

test('a branch that is accepted and never listed is unfinished, and sent once', async () => {
  await withQuirks({ listsUntilShown: 1000 });
  expect(await create()).toMatchObject({ kind: 'unfinished', why: expect.stringContaining('does not list it yet') });
  expect(posts()).toHaveLength(1);
});

test.each([400, 401, 403, 404, 422])('%i stops, with its reason and without the key', async (status) => {
  const document = { message: `no room for ${fake.apiKey}` };
  fake.script = ({ method }) => (method === 'POST' ? { status, document } : undefined);
  expect(await create()).toMatchObject({
    kind: 'failed',
    why: expect.stringMatching(new RegExp(`status ${status}.*; it answers: {"message":"no room for \\*\\*\\*"}$`)),
  });
  expect(posts()).toHaveLength(1);
});

test('an existing branch with another parent is refused', async () => {
  const other = fake.addBranch({ name: 'other', parentId: fake.root });
  fake.addBranch({ name: 'pr-1', parentId: other.id });
  const parent = { id: fake.root, name: 'main' };
  expect(await create({ parent })).toMatchObject({ kind: 'refused', why: expect.stringContaining(other.id) });
  expect((await create({ parent: { ...parent, id: other.id } })).kind).toBe('created');
});

test('several branches of that name are refused, with their ids', async () => {
  const twins = [fake.addBranch({ name: 'pr-1' }), fake.addBranch({ name: 'pr-1' })];
  expect(await create()).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining(twins.map(({ id }) => id).join(', ')),
  });
});

const WISH = { endpoints: ['read_write'] } as const;

test(
  '200 consoles: one branch each, and no second request while the first may have worked',
  { timeout: 300_000 },
  async () => {
    for (let seed = 0; seed < 200; seed += 1) {
      await withQuirks(quirksOf(seed));
      const kinds: string[] = [];
      while (kinds.at(-1) !== 'created' && kinds.length < 4) kinds.push((await create(WISH)).kind);
      expect(kinds.at(-1), `seed ${seed}: ${kinds.join()}`).toBe('created');
      expect(made(), `seed ${seed}`).toHaveLength(1);
      expect(fake.violations, `seed ${seed}`).toEqual([]);
    }
  },
);
