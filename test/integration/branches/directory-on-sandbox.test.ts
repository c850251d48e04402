// The directory by the sandbox's storage node and console, whose branches are real servers.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BranchDirectory } from '../../../src/branches/directory.ts';
import { readBranchList } from '../../../src/branches/list-branches.ts';
import type { BranchListEvent, BranchSourcePolicy } from '../../../src/model/branch.ts';
import { BranchesLab } from '../../support/sandbox/branches-lab.ts';
import { branchesPolicy } from '../../support/values/branch-lists.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';
import { until } from '../../support/waiting/until.ts';

const LIMIT = 120_000;
let lab: BranchesLab;
let directory: BranchDirectory | undefined;
const events: BranchListEvent[] = [];

beforeAll(async () => {
  lab = await BranchesLab.start();
}, LIMIT);

afterAll(async () => {
  directory?.stop();
  await lab.sandbox.stop();
}, LIMIT);

/** With a pace that leaves every later read to the questions. */
async function started(source: BranchSourcePolicy): Promise<BranchDirectory> {
  directory?.stop();
  directory = new BranchDirectory(branchesPolicy({ source, refreshMs: 3_600_000 }), {
    clock: systemClock,
    random: Math.random,
    fetchList: readBranchList,
    poolOf: () => undefined,
    onEvent: (event) => events.push(event),
  });
  directory.start();
  const running = directory;
  await until('the list', () => running.status().readAt !== undefined);
  return running;
}

test('a timeline is found by its id as soon as it is there', { timeout: LIMIT }, async () => {
  const { storageUrl, tenant, rootTimeline, pgMajor } = lab.branches;
  const policy = { url: storageUrl, tenant, namesFile: undefined, pgVersion: pgMajor, headersFile: undefined };
  const storage = await started({ kind: 'storage', ...policy });
  expect((storage.index()?.branches ?? []).map(({ id }) => id)).toEqual([rootTimeline]);
  expect(storage.locate(rootTimeline, 'write')).toMatchObject({ kind: 'not_allowed', why: 'root' });

  const { id } = await lab.branch();
  expect(await storage.locate(id, 'write')).toMatchObject({
    kind: 'found',
    branch: { id, name: id, parentId: rootTimeline, parentLsn: expect.stringMatching(/^[0-9A-F]+\/[0-9A-F]+$/i) },
    backend: { address: { host: `${id}.test`, port: 5432 }, rule: 'template' },
  });
  expect(await storage.locate('f'.repeat(32), 'write')).toEqual({ kind: 'unknown' });

  expect((await lab.timeline('DELETE', `/${id}`)).status).toBeLessThan(300);
  storage.reconfigure(branchesPolicy({ source: { kind: 'storage', ...policy, url: `${storageUrl}/` } }));
  expect(await storage.locate(id, 'write')).toEqual({ kind: 'unknown' });
});

test('a branch of the console is found by name and by slug', { timeout: LIMIT }, async () => {
  const { consoleUrl, project, apiKeyFile } = lab.branches;
  const console = await started({ kind: 'console', url: consoleUrl, project, apiKeyFile });
  expect(console.locate('main', 'write')).toMatchObject({ kind: 'not_allowed', why: 'root' });
  const body = { branch: { name: 'feat/Login_2' }, endpoints: [{ type: 'read_write' }] };
  expect((await lab.console('POST', body)).status).toBe(201);
  expect(await console.locate('feat-login-2', 'write')).toMatchObject({
    kind: 'found',
    branch: { name: 'feat/Login_2', hasReadEndpoint: false },
  });
  expect(console.locate('feat/Login_2', 'read')).toMatchObject({ kind: 'found' });
  const outcomes = events.map((event) => (event.kind === 'branch_list_read' ? event.outcome : event.kind));
  expect(new Set(outcomes)).toEqual(new Set(['read']));
});
