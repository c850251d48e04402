// The sandbox's console over real PostgreSQL: names, parents, endpoints and schema-only branches.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BranchPlace } from '../../../../src/sandbox/sandbox.ts';
import { startKeptSandbox } from '../../../support/sandbox/kept-cluster.ts';
import { waitUntil } from '../../../support/waiting/wait.ts';
import { BranchesLab } from '../../../support/sandbox/branches-lab.ts';

const LIMIT = { timeout: 120_000 };
const READ_WRITE = { type: 'read_write' };
const READ_ONLY = { type: 'read_only' };

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly parent_id?: string;
  readonly parent_lsn?: string;
  readonly current_state: string;
  readonly endpoints: readonly (BranchPlace & { readonly type: string })[];
}

function endpoint({ endpoints }: Listed, type: string): BranchPlace {
  return endpoints.find((one) => one.type === type) ?? expect.fail(`no endpoint ${type}`);
}

describe('the console of the sandbox', () => {
  let lab: BranchesLab;
  beforeAll(async () => {
    lab = await BranchesLab.start();
    await lab.insert(lab.leader(), 10);
  }, LIMIT.timeout);
  afterAll(async () => {
    await lab.sandbox.stop();
  }, LIMIT.timeout);

  async function listed(name: string): Promise<Listed | undefined> {
    const { body } = await lab.console('GET');
    return body.branches.find((one: Listed) => one.name === name);
  }

  function ready(name: string): Promise<Listed> {
    const isReady = async (): Promise<Listed | undefined> => {
      const branch = await listed(name);
      return branch?.current_state === 'ready' ? branch : undefined;
    };
    return waitUntil(`${name} is ready`, isReady, { timeoutMs: 60_000 });
  }

  it('every request needs the key, which a file has that others cannot read', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await lab.console('GET', undefined, json)).status).toBe(401);
    expect((await lab.console('POST', {}, { ...json, authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await stat(lab.branches.apiKeyFile)).mode & 0o077).toBe(0);
    expect((await lab.console('GET')).status).toBe(200);
  });

  it('without a parent the default branch is the parent', LIMIT, async () => {
    const main = (await listed('main')) ?? expect.fail('no default branch');
    expect([main.parent_id, main.parent_lsn]).toEqual([undefined, undefined]);
    const position = await lab.positionOf(lab.branches.rootTimeline);
    expect((await lab.console('POST', { branch: { name: 'pr-1' }, endpoints: [READ_WRITE] })).status).toBe(201);
    // The answer comes before the branch is up.
    expect(await listed('pr-1')).toMatchObject({ id: expect.stringMatching(/^br-/), parent_id: main.id });
    const branch = await ready('pr-1');
    expect(branch.parent_lsn).toBe(position);
    const place = endpoint(branch, 'read_write');
    expect(await lab.count(place)).toBe(10);
    expect(lab.branches.projectBranches()).toContainEqual({ id: branch.id, host: place.host, port: place.port });
  });

  it('a branch of a branch has its rows', LIMIT, async () => {
    const parent = await ready('pr-1');
    await lab.insert(endpoint(parent, 'read_write'), 5);
    const body = { branch: { name: 'pr-1-again', parent_id: parent.id }, endpoints: [READ_WRITE] };
    expect((await lab.console('POST', body)).status).toBe(201);
    const child = await ready('pr-1-again');
    expect([child.parent_id, await lab.count(endpoint(child, 'read_write'))]).toEqual([parent.id, 15]);
  });

  it('schema-only: the tables are there, their rows are not, and numbers start again', LIMIT, async () => {
    await lab.sql(lab.leader(), 'create table numbered (id int generated always as identity primary key)');
    await lab.sql(lab.leader(), 'insert into numbered default values');
    const body = { branch: { name: 'empty', init_source: 'schema-only' }, endpoints: [READ_WRITE] };
    expect((await lab.console('POST', body)).status).toBe(201);
    const place = endpoint(await ready('empty'), 'read_write');
    expect(await lab.count(place)).toBe(0);
    expect(await lab.sql(place, 'insert into numbered default values returning id')).toEqual([{ id: 1 }]);
    expect(await lab.count(lab.leader())).toBe(10);
  });

  it('read_only is a standby, which has the writes of its branch and takes none', LIMIT, async () => {
    const body = { branch: { name: 'with-reader' }, endpoints: [READ_WRITE, READ_ONLY] };
    expect((await lab.console('POST', body)).status).toBe(201);
    const branch = await ready('with-reader');
    const [writer, reader] = [endpoint(branch, 'read_write'), endpoint(branch, 'read_only')];
    await lab.insert(writer, 7);
    await waitUntil('the rows on the standby', async () => (await lab.count(reader)) === 17, { timeoutMs: 30_000 });
    await expect(lab.insert(reader, 1)).rejects.toThrow('read-only transaction');
    const { id } = branch;
    expect(lab.branches.projectReaders()).toContainEqual({ id, host: reader.host, port: reader.port });
    const readers = await lab.console('POST', { branch: { name: 'reader-alone' }, endpoints: [READ_ONLY] });
    const alone = await ready('reader-alone');
    expect([readers.status, alone.endpoints.map(({ type }) => type)]).toEqual([201, ['read_only']]);
    // The writes of its server have no address.
    expect(lab.branches.projectBranches().map((place) => place.id)).not.toContain(alone.id);
    await expect(lab.insert(endpoint(alone, 'read_only'), 1)).rejects.toThrow('read-only transaction');
    await lab.replaceServer(reader);
    expect(await lab.count(reader)).toBe(17);
  });

  it('refuses a second branch of the same name, an unknown parent, and what is no such request', LIMIT, async () => {
    const cases: readonly (readonly [unknown, number])[] = [
      [{ branch: { name: 'main' } }, 409],
      [{ branch: { name: 'orphan', parent_id: 'br-none' } }, 404],
      [{ branch: { name: 'odd', init_source: 'parent-data' } }, 400],
      [{ branch: { name: 'odd' }, endpoints: [{ type: 'write' }] }, 400],
      ['no JSON', 400],
    ];
    for (const [body, status] of cases)
      expect([body, (await lab.console('POST', body)).status]).toEqual([body, status]);
    const twice = { branch: { name: 'twice' } };
    const answers = await Promise.all([lab.console('POST', twice), lab.console('POST', twice)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    await ready('twice');
  });
});

it('a sandbox that ends while a branch is being made leaves nothing behind', LIMIT, async () => {
  const sandbox = await startKeptSandbox({ members: 1, branches: true });
  try {
    const { storageUrl, tenant, rootTimeline, pgMajor } = sandbox.branches ?? expect.fail('no branches');
    const body = { new_timeline_id: 'a'.repeat(32), ancestor_timeline_id: rootTimeline, pg_version: pgMajor };
    const headers = { 'content-type': 'application/json' };
    const url = `${storageUrl}/v1/tenant/${tenant}/timeline/`;
    const asked = fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => undefined);
    const isVisible = async (): Promise<boolean> => sandbox.branches?.timelines().length === 2;
    await waitUntil('the branch in the list', isVisible, { timeoutMs: 30_000 });
    await sandbox.stop();
    await asked;
  } finally {
    await sandbox.stop();
  }
  expect(existsSync(sandbox.directory)).toBe(false);
});
