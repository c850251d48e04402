// The lines about the console, and those that say "not shown" about both.
import { expect } from 'vitest';
import type { BranchControl } from '../../../../src/branching/control-branches.ts';
import type { BranchWish } from '../../../../src/branching/branch-wish.ts';
import { ApiError } from '../../../../src/http/request.ts';
import { withClients } from './clients.ts';
import type { LineTests } from './suite.ts';
import { branches, childOf, consoleBranchOf, createListed, listed, newId, storage } from './target.ts';
import type { BranchRecord, ContractTarget } from './target.ts';

const isRoot = ({ parent_id }: BranchRecord): boolean => parent_id === undefined || parent_id === null;

/** As the client of Pointsman reads it. */
async function readByClient(on: ContractTarget, id: string) {
  const all = await withClients(on, (clients) => clients.console.branches());
  return all.find((branch) => branch.id === id);
}

async function schemaOnly(on: ContractTarget): Promise<BranchRecord> {
  const parent = await consoleBranchOf(on);
  return await createListed(on, { parent_id: parent.id, init_source: 'schema-only' });
}

/** An answer that gets lost leaves it open, and the command ends. The next one looks first. */
async function createdBy(control: BranchControl, wish: BranchWish): Promise<void> {
  let kind = '';
  for (let runs = 0; kind !== 'created' && runs < 4; runs += 1) kind = (await control.create(wish)).kind;
  expect(kind).toBe('created');
}

export const CONSOLE_TESTS = {
  async console(on) {
    const { id } = await consoleBranchOf(on);
    expect((await listed(on)).map((branch) => branch.id)).toContain(id);
  },
  async with_endpoints(on) {
    await withClients(on, async ({ consoleControl }) => {
      const wish = { name: `endpoints-${newId().slice(0, 8)}`, waitMs: 120_000, endpoints: ['read_write'] as const };
      await createdBy(consoleControl, wish);
      expect(await consoleControl.create(wish)).toMatchObject({ kind: 'created', isNew: false });
    });
  },
  async default_parent(on) {
    const { parent_id } = await consoleBranchOf(on);
    expect((await listed(on)).filter(isRoot).map(({ id }) => id)).toContain(parent_id);
  },
  async branch_id(on) {
    for (const { id } of await listed(on)) expect(id).toMatch(/^br-/);
  },
  async branch_name(on) {
    const { id, name } = await consoleBranchOf(on);
    expect((await readByClient(on, id))?.name).toBe(name);
  },
  async parent_id(on) {
    const { id, parent_id } = await consoleBranchOf(on);
    expect((await readByClient(on, id))?.parentId).toBe(parent_id);
  },
  async parent_lsn(on) {
    const { id, parent_lsn } = await consoleBranchOf(on);
    expect(parent_lsn).toEqual(expect.any(String));
    expect((await readByClient(on, id))?.parentLsn).toBe(parent_lsn);
  },
  async branch_request(on) {
    const child = await schemaOnly(on);
    expect(child.parent_id).toBe((await consoleBranchOf(on)).id);
  },
  async schema_only(on) {
    await withClients(on, async ({ consoleControl }) => {
      const wish = { name: `schema-${newId().slice(0, 8)}`, waitMs: 120_000, schemaOnly: true };
      await createdBy(consoleControl, wish);
    });
  },
  async endpoints(on) {
    const { id } = await consoleBranchOf(on);
    // The list is not bound to show them.
    expect([true, undefined]).toContain((await readByClient(on, id))?.hasReadEndpoint);
  },
  async other_fields(on) {
    const child = await childOf(on);
    const { id } = await consoleBranchOf(on);
    await withClients(on, async (clients) => {
      const timeline = await clients.storage.timeline(child.new_timeline_id);
      expect(Object.keys(timeline ?? {}).toSorted()).toEqual(['id', 'lastRecordLsn', 'parentId', 'parentLsn']);
      const branch = (await clients.console.branches()).find((one) => one.id === id);
      expect(branch?.lastRecordLsn).toBeUndefined();
    });
  },
  async states(on) {
    // Nothing but the creation's 201, and the list, says that a branch is there.
    await withClients(on, async ({ storageControl }) => {
      const wish = { name: 'states', waitMs: 120_000 };
      expect(await storageControl.create(wish)).toMatchObject({ kind: 'created', isNew: true });
      expect(await storageControl.create(wish)).toMatchObject({ kind: 'created', isNew: false });
    });
  },
  async post_branch(on) {
    expect(await createListed(on, {}, [{ type: 'read_only' }])).toMatchObject({ id: expect.any(String) });
  },
  async get_branches(on) {
    const { status, body } = await branches(on, 'GET');
    expect([status, body]).toMatchObject([200, { branches: expect.any(Array) }]);
  },
  async console_headers(on) {
    const type = { 'content-type': 'application/json' };
    expect((await branches(on, 'GET', undefined, type)).status).not.toBe(200);
    expect((await branches(on, 'GET', undefined, { authorization: `Bearer ${on.apiKey}`, ...type })).status).toBe(200);
  },
  async branch_body(on) {
    const name = `body-${newId().slice(0, 8)}`;
    await withClients(on, async ({ console: client }) => {
      const { kind } = await client.createBranch({ name });
      expect(['accepted', 'unclear']).toContain(kind);
    });
  },
  async bearer(on) {
    const wrong = { ...on, apiKey: 'a-wrong-key' };
    const error: unknown = await withClients(wrong, (clients) => clients.console.branches()).catch(
      (why: unknown) => why,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(String(error)).not.toContain('a-wrong-key');
  },
  async events(on) {
    // A branch that another client has made is seen by reading the list, and in no other way.
    const { id } = await consoleBranchOf(on);
    expect(await readByClient(on, id)).toBeDefined();
  },
  async console_errors(on) {
    const elsewhere = { ...on, project: 'no-such-project' };
    await expect(withClients(elsewhere, (clients) => clients.console.branches())).rejects.toThrow(/: status \d{3}/);
    const created = await withClients(elsewhere, (clients) => clients.console.createBranch({ name: 'nowhere' }));
    expect(created.kind).toBe('refused');
  },
  async limits(on) {
    await withClients(on, async (clients) => {
      const reads = Array.from({ length: 10 }, () => [clients.storage.timelines(), clients.console.branches()]).flat();
      for (const read of await Promise.allSettled(reads)) {
        if (read.status === 'rejected') expect(read.reason).toBeInstanceOf(ApiError);
      }
    });
  },
  async console_version(on) {
    const outside = { ...on, storageUrl: on.consoleUrl };
    expect((await storage(outside, 'GET', `/projects/${on.project}/branches`)).status).not.toBe(200);
    expect((await branches(on, 'GET')).status).toBe(200);
  },
} as const satisfies Partial<LineTests>;
