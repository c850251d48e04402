// The sandbox's storage node over real PostgreSQL: branches at real positions, and the API line by line.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BranchesLab } from '../../../support/sandbox/branches-lab.ts';

const LIMIT = { timeout: 120_000 };
const UNKNOWN = 'f'.repeat(32);

describe('branches of the sandbox', () => {
  let lab: BranchesLab;
  beforeAll(async () => {
    lab = await BranchesLab.start();
  }, LIMIT.timeout);
  afterAll(async () => {
    await lab.sandbox.stop();
  }, LIMIT.timeout);

  function request(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const { rootTimeline, pgMajor } = lab.branches;
    return {
      new_timeline_id: randomBytes(16).toString('hex'),
      ancestor_timeline_id: rootTimeline,
      pg_version: pgMajor,
      ...changes,
    };
  }

  it('the tenant has one timeline, the cluster, which has no ancestor', async () => {
    const { tenant, rootTimeline } = lab.branches;
    expect(await lab.storage('GET', '/v1/tenant')).toMatchObject({ status: 200, body: [{ id: tenant }] });
    const { body } = await lab.timeline('GET', '');
    expect(body).toMatchObject([
      {
        timeline_id: rootTimeline,
        ancestor_timeline_id: null,
        last_record_lsn: expect.stringMatching(/^0\/[0-9A-F]+$/),
      },
    ]);
  });

  it('a branch has the rows as of its position, takes its own writes, and leaves its parent alone', LIMIT, async () => {
    const { rootTimeline } = lab.branches;
    await lab.insert(lab.leader(), 10);
    const early = await lab.positionOf(rootTimeline);
    await lab.insert(lab.leader(), 5);
    const now = await lab.branch();
    const before = await lab.branch(rootTimeline, early);
    expect([await lab.count(now), await lab.count(before)]).toEqual([15, 10]);
    await lab.insert(now, 100);
    const counts = [await lab.count(now), await lab.count(before), await lab.count(lab.leader())];
    expect(counts).toEqual([115, 10, 15]);
  });

  it('a branch without a write of its own is where it began; a write moves it', LIMIT, async () => {
    const branch = await lab.branch();
    const { body: fresh } = await lab.timeline('GET', `/${branch.id}`);
    expect(fresh).toMatchObject({ ancestor_timeline_id: lab.branches.rootTimeline, state: 'Active' });
    await lab.sql(branch, 'select 1');
    expect(await lab.positionOf(branch.id)).toBe(fresh.ancestor_lsn);
    await lab.insert(branch, 1);
    expect(await lab.positionOf(branch.id)).not.toBe(fresh.ancestor_lsn);
  });

  it('a branch of a branch, at its present and at an earlier position, and of that one', LIMIT, async () => {
    const parent = await lab.branch();
    const rows = await lab.count(parent);
    const twin = await lab.branch(parent.id, await lab.positionOf(parent.id));
    await lab.insert(parent, 1);
    const middle = await lab.positionOf(parent.id);
    await lab.insert(parent, 1);
    const [child, earlier] = [await lab.branch(parent.id), await lab.branch(parent.id, middle)];
    await lab.insert(earlier, 7);
    const grandchild = await lab.branch(earlier.id);
    const counts = await Promise.all([twin, child, earlier, grandchild].map((branch) => lab.count(branch)));
    expect(counts).toEqual([rows, rows + 2, rows + 8, rows + 8]);
  });

  it('a position between two records gives the state before the unfinished one', LIMIT, async () => {
    await lab.insert(lab.leader(), 1);
    const [high = '', low = ''] = (await lab.positionOf(lab.branches.rootTimeline)).split('/');
    const rows = await lab.count(lab.leader());
    const inside = `${high}/${(Number.parseInt(low, 16) - 9).toString(16).toUpperCase()}`;
    expect(await lab.count(await lab.branch(lab.branches.rootTimeline, inside))).toBe(rows - 1);
  });

  it('the same request again gives 201, another one with the same id 409', LIMIT, async () => {
    const same = request();
    const [first, second] = await Promise.all([lab.create(same), lab.create(same)]);
    expect([first.status, second.status]).toEqual([201, 201]);
    const { ancestor_lsn: lsn } = first.body;
    await lab.insert(lab.leader(), 1);
    // The parent has advanced, and the branch point has not.
    expect((await lab.timeline('POST', '/', same)).status).toBe(201);
    expect((await lab.timeline('POST', '/', { ...same, ancestor_start_lsn: lsn })).status).toBe(201);
    const later = await lab.positionOf(lab.branches.rootTimeline);
    expect((await lab.timeline('POST', '/', { ...same, ancestor_start_lsn: later })).status).toBe(409);
    const { body } = await lab.timeline('GET', '');
    expect(body.filter((one: { timeline_id: string }) => one.timeline_id === same['new_timeline_id'])).toHaveLength(1);
  });

  it('a timeline is visible before it is durable: its request gets 503 until then', LIMIT, async () => {
    const asked = request();
    const path = `/${String(asked['new_timeline_id'])}`;
    let held: Promise<void> | undefined;
    lab.branches.onChange(() => held ?? Promise.resolve());
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    expect((await lab.timeline('POST', '/', asked)).status).toBe(503);
    expect((await lab.timeline('GET', path)).body).toMatchObject({ state: 'Loading' });
    expect((await lab.timeline('DELETE', path)).status).toBe(409);
    held = undefined;
    resolve();
    expect((await lab.create(asked)).status).toBe(201);
    expect((await lab.timeline('GET', path)).body).toMatchObject({ state: 'Active' });
  });

  it('deletion stops the server and removes its files, and is refused while there are children', LIMIT, async () => {
    const parent = await lab.branch();
    const child = await lab.branch(parent.id);
    const files = `${lab.sandbox.directory}/branch-${child.id.slice(0, 8)}`;
    const refused = await lab.timeline('DELETE', `/${parent.id}`);
    expect(refused).toMatchObject({ status: 412, body: { msg: expect.stringContaining(child.id) } });
    expect(existsSync(files)).toBe(true);
    expect((await lab.timeline('DELETE', `/${child.id}`)).status).toBe(200);
    expect(existsSync(files)).toBe(false);
    await expect(lab.sql(child, 'select 1')).rejects.toThrow('ECONNREFUSED');
    expect((await lab.timeline('GET', `/${child.id}`)).status).toBe(404);
    expect((await lab.timeline('DELETE', `/${parent.id}`)).status).toBe(200);
    expect((await lab.timeline('DELETE', `/${parent.id}`)).status).toBe(404);
    expect((await lab.timeline('DELETE', `/${lab.branches.rootTimeline}`)).status).toBe(403);
  });

  it('a request that can never succeed gets 406, one that may succeed later 503', LIMIT, async () => {
    const branch = await lab.branch();
    const cases: readonly (readonly [Record<string, unknown>, number])[] = [
      [{ ancestor_timeline_id: UNKNOWN }, 406],
      [{ pg_version: 9 }, 406],
      // Before the WAL that is kept, and before the branch began.
      [{ ancestor_start_lsn: '0/1000028' }, 406],
      [{ ancestor_timeline_id: branch.id, ancestor_start_lsn: '0/3000028' }, 406],
      [{ ancestor_start_lsn: 'FF/0' }, 503],
    ];
    for (const [changes, status] of cases) {
      expect([changes, (await lab.timeline('POST', '/', request(changes))).status]).toEqual([changes, status]);
    }
  });

  it('a request that is no such request is refused, and nothing is created', LIMIT, async () => {
    const { body: before } = await lab.timeline('GET', '');
    const bodies = [
      'no JSON',
      '[]',
      request({ new_timeline_id: 'short' }),
      request({ ancestor_timeline_id: undefined }),
      request({ ancestor_start_lsn: 'here' }),
    ];
    for (const body of bodies) expect([body, (await lab.timeline('POST', '/', body)).status]).toEqual([body, 400]);
    const url = `${lab.branches.storageUrl}/v1/tenant/${lab.branches.tenant}/timeline/`;
    const text = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: JSON.stringify(request()) };
    expect((await fetch(url, text)).status).toBe(415);
    const page = { ...text, headers: { 'content-type': 'application/json', origin: 'http://evil.example' } };
    expect((await fetch(url, page)).status).toBe(403);
    const { body: after } = await lab.timeline('GET', '');
    expect(after).toHaveLength(before.length);
  });

  it('paths are exact: a creation ends with a slash, the list does not', async () => {
    expect((await lab.timeline('POST', '', request())).status).toBe(405);
    expect((await lab.timeline('GET', '/')).status).toBe(405);
    expect((await lab.timeline('GET', `/${UNKNOWN}`)).status).toBe(404);
    expect((await lab.storage('GET', `/v1/tenant/${UNKNOWN}/timeline`)).status).toBe(404);
    expect((await lab.storage('GET', '/v1/tenants')).status).toBe(404);
  });

  it('a server that dies is started again, with the writes of its branch', LIMIT, async () => {
    const branch = await lab.branch();
    await lab.insert(branch, 4);
    const rows = await lab.count(branch);
    await lab.replaceServer(branch);
    expect(await lab.count(branch)).toBe(rows);
    const { body } = await lab.timeline('GET', `/${branch.id}`);
    expect(body.last_record_lsn).not.toBe(body.ancestor_lsn);
  });

  it('after a switchover branches stay, and new ones come from the new primary', LIMIT, async () => {
    const { rootTimeline } = lab.branches;
    const branch = await lab.branch();
    const rows = await lab.count(branch);
    const early = await lab.positionOf(rootTimeline);
    const { name, api } = lab.leader();
    const switched = await fetch(`${api}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leader: name }),
    });
    expect([switched.status, lab.leader().name === name]).toEqual([200, false]);
    await lab.insert(lab.leader(), 3);
    const [now, before] = [await lab.branch(), await lab.branch(rootTimeline, early)];
    expect([await lab.count(branch), await lab.count(now), await lab.count(before)]).toEqual([rows, rows + 3, rows]);
  });
});
