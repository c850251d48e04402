// The lines about the storage node.
import { expect } from 'vitest';
import { parseLsn } from '../../../../src/model/lsn.ts';
import { withClients } from './clients.ts';
import type { LineTests } from './suite.ts';
import { childOf, createChild, createUntil, newId, recordOf, rootOf, storage, timeline, timelines } from './target.ts';
import type { ContractTarget, Wanted } from './target.ts';

const HEX = /^[0-9a-f]{32}$/;
const LSN = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i;
const bytesOf = (lsn: string | undefined): number => parseLsn(lsn ?? '') ?? Number.NaN;

async function idsOf(on: ContractTarget): Promise<readonly string[]> {
  return (await timelines(on)).map(({ timeline_id }) => timeline_id);
}

/** A position of the root before the one of now. */
async function earlierPosition(on: ContractTarget): Promise<string> {
  const { last_record_lsn: now } = await rootOf(on);
  const [high = '', low = ''] = now.split('/');
  return `${high}/${(Number.parseInt(low, 16) - 0x100).toString(16).toUpperCase()}`;
}

async function startsNow(on: ContractTarget): Promise<void> {
  const root = await rootOf(on);
  const wanted = { new_timeline_id: newId(), ancestor_timeline_id: root.timeline_id, pg_version: on.pgVersion };
  let after = root;
  while ((await createUntil(on, wanted, [201, 409])) === 409) {
    after = await rootOf(on);
    // The parent has moved between two attempts, so the second one had other arguments: it can never succeed.
    if (bytesOf(after.last_record_lsn) > bytesOf(root.last_record_lsn)) return;
  }
  after = await rootOf(on);
  const { ancestor_lsn } = await recordOf(on, wanted.new_timeline_id);
  expect(bytesOf(ancestor_lsn)).toBeGreaterThanOrEqual(bytesOf(root.last_record_lsn));
  expect(bytesOf(ancestor_lsn)).toBeLessThanOrEqual(bytesOf(after.last_record_lsn));
}

async function keepsParents(on: ContractTarget): Promise<number> {
  const child = await childOf(on);
  const { status } = await timeline(on, 'DELETE', `/${child.ancestor_timeline_id}`);
  expect(await idsOf(on)).toContain(child.ancestor_timeline_id);
  return status;
}

export const STORAGE_TESTS = {
  async tenants(on) {
    const { body } = await storage(on, 'GET', '/v1/tenant');
    expect(body).toContainEqual(expect.objectContaining({ id: on.tenant }));
    expect((await timelines(on)).length).toBeGreaterThan(0);
  },
  async branch(on) {
    const child = await childOf(on);
    expect(await recordOf(on, child.new_timeline_id)).toMatchObject({
      timeline_id: child.new_timeline_id,
      ancestor_timeline_id: (await rootOf(on)).timeline_id,
    });
  },
  starts_now: startsNow,
  async starts_earlier(on) {
    const lsn = await earlierPosition(on);
    const wanted = { ...(await childOf(on)), new_timeline_id: newId(), ancestor_start_lsn: lsn };
    await createUntil(on, wanted, [201]);
    const { ancestor_lsn } = await recordOf(on, wanted.new_timeline_id);
    // A node may round it up to the alignment of records.
    expect(bytesOf(ancestor_lsn) - bytesOf(lsn)).toBeLessThan(8);
    expect(bytesOf(ancestor_lsn)).toBeLessThan(bytesOf((await rootOf(on)).last_record_lsn));
  },
  async storage_address(on) {
    const seen = await withClients(on, (clients) => clients.storage.timelines());
    expect(seen.map(({ id }) => id).toSorted()).toEqual((await idsOf(on)).toSorted());
  },
  async callers_id(on) {
    const { new_timeline_id: id } = await childOf(on);
    expect(id).toMatch(HEX);
    expect(await idsOf(on)).toContain(id);
  },
  async repeatable(on) {
    const child = await childOf(on);
    expect(await createUntil(on, child, [201, 406])).toBe(201);
    expect((await idsOf(on)).filter((id) => id === child.new_timeline_id)).toHaveLength(1);
  },
  async until_durable(on) {
    await withClients(on, async ({ storageControl }) => {
      const created = await storageControl.create({ name: 'pr-1', waitMs: 120_000 });
      expect(created).toMatchObject({ kind: 'created', isNew: true });
      const list = await storageControl.list();
      expect(list.kind === 'read' && list.branches.filter(({ name }) => name === 'pr-1')).toHaveLength(1);
    });
  },
  async children(on) {
    const status = await keepsParents(on);
    expect(status < 200 || status >= 300).toBe(true);
  },
  async tenant_id(on) {
    const tenants = await withClients(on, (clients) => clients.storage.tenants());
    expect(tenants).toContain(on.tenant);
  },
  async timeline_id(on) {
    for (const id of await idsOf(on)) expect(id).toMatch(/^[0-9a-f]{32}$/i);
  },
  async ancestor_timeline_id(on) {
    const child = await childOf(on);
    const all = await withClients(on, (clients) => clients.storage.timelines());
    expect(all.find(({ id }) => id === child.ancestor_timeline_id)?.parentId).toBeUndefined();
    expect(all.find(({ id }) => id === child.new_timeline_id)?.parentId).toBe(child.ancestor_timeline_id);
  },
  async ancestor_lsn(on) {
    const { ancestor_lsn } = await recordOf(on, (await childOf(on)).new_timeline_id);
    expect(ancestor_lsn).toMatch(LSN);
  },
  async last_record_lsn(on) {
    for (const { last_record_lsn } of await timelines(on)) expect(last_record_lsn).toMatch(LSN);
  },
  async new_timeline_id(on) {
    const child = await childOf(on);
    expect(await recordOf(on, child.new_timeline_id)).toMatchObject({ timeline_id: child.new_timeline_id });
  },
  async request_ancestor(on) {
    const parent = await childOf(on);
    const grandchild = await createChild(on, parent);
    const record = await recordOf(on, grandchild.new_timeline_id);
    expect(record.ancestor_timeline_id).toBe(parent.new_timeline_id);
  },
  async ancestor_start_lsn(on) {
    const child = await childOf(on);
    const { ancestor_lsn } = await recordOf(on, child.new_timeline_id);
    expect(bytesOf(ancestor_lsn) - bytesOf(child.ancestor_start_lsn)).toBeLessThan(8);
  },
  async pg_version(on) {
    const { pg_version } = await childOf(on);
    expect(Number.isInteger(pg_version)).toBe(true);
  },
  async get_tenants(on) {
    const { status, body } = await storage(on, 'GET', '/v1/tenant');
    expect(status).toBe(200);
    expect(body).toEqual(expect.arrayContaining([expect.objectContaining({ id: expect.any(String) })]));
  },
  async get_timelines(on) {
    const { status, body } = await timeline(on, 'GET', '');
    expect(status).toBe(200);
    expect(Array.isArray(body)).toBe(true);
  },
  async get_timeline(on) {
    const { timeline_id: id } = await rootOf(on);
    const { status, body } = await timeline(on, 'GET', `/${id}`);
    expect([status, body]).toMatchObject([200, { timeline_id: id }]);
    const unknown = await withClients(on, (clients) => clients.storage.timeline(newId()));
    expect(unknown).toBeUndefined();
  },
  async post_timeline(on) {
    const request: Wanted = await childOf(on);
    expect((await timeline(on, 'POST', '/', request)).status).toBe(201);
  },
  async delete_timeline(on) {
    const child = await createChild(on);
    const { status } = await timeline(on, 'DELETE', `/${child.new_timeline_id}`);
    expect(Math.floor(status / 100)).toBe(2);
    expect(await withClients(on, (clients) => clients.storage.timeline(child.new_timeline_id))).toBeUndefined();
  },
  async storage_bodies(on) {
    const created = await createChild(on);
    const { new_timeline_id: id, ancestor_timeline_id: parentId, ancestor_start_lsn: parentLsn = '' } = created;
    await withClients(on, async (clients) => {
      const again = await clients.storage.createTimeline({ id, parentId, parentLsn, pgVersion: on.pgVersion });
      expect(again).toEqual({ kind: 'durable' });
      await clients.storage.deleteTimeline(id);
    });
  },
  async deletion_code(on) {
    const { ancestor_timeline_id: parent } = await childOf(on);
    await withClients(on, async ({ storage: client, storageControl }) => {
      await expect(client.deleteTimeline(parent)).rejects.toThrow(/^DELETE .*: status \d{3}/);
      const root = { id: parent, name: parent };
      expect(await storageControl.remove(root)).toMatchObject({
        kind: 'failed',
        why: expect.stringMatching(/has branches of its own/),
      });
    });
  },
  async storage_auth(on) {
    // The clients of the suite send a header of their own, as an operator configures it.
    expect(await withClients(on, (clients) => clients.storage.timelines())).not.toEqual([]);
  },
  async code_201(on) {
    expect((await timeline(on, 'POST', '/', await childOf(on))).status).toBe(201);
  },
  async code_409(on) {
    const child = await childOf(on);
    const other = { ...child, ancestor_start_lsn: await earlierPosition(on) };
    expect(await createUntil(on, other, [201, 409])).toBe(409);
    const fresh = { ...other, new_timeline_id: newId() };
    expect(await createUntil(on, fresh, [201])).toBe(201);
  },
  async code_406(on) {
    const impossible = { ...(await childOf(on)), new_timeline_id: newId(), ancestor_timeline_id: newId() };
    expect(await createUntil(on, impossible, [201, 406])).toBe(406);
    expect(await createUntil(on, impossible, [201, 406])).toBe(406);
    expect(await idsOf(on)).not.toContain(impossible.new_timeline_id);
  },
  async storage_version(on) {
    expect((await storage(on, 'GET', '/tenant')).status).not.toBe(200);
    expect((await storage(on, 'GET', '/v1/tenant')).status).toBe(200);
  },
} as const satisfies Partial<LineTests>;
