// `pointsman branches delete`: what it refuses, what it asks, and what it tells the source.
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  aBranch,
  branchesCli,
  CONSOLE,
  FakeSource,
  MAIN,
  STATIC,
  STORAGE,
} from '../../../support/fakes/branches-cli.ts';
import { close, listen } from '../../../support/sockets/listen.ts';

const PR_1 = aBranch('pr-1', { lastRecordLsn: '0/3400000' });
const source = (): FakeSource =>
  new FakeSource([MAIN, PR_1, aBranch('pr-2'), aBranch('pr-2-b', { parentId: 'pr-2-id' })]);

let sessions: Readonly<Record<string, number>>;
const admin = createServer((_, response) => {
  const branches = source().branches.map(({ id, name }) => ({ id, name, sessions: sessions[name] ?? 0 }));
  response.end(JSON.stringify({ age_seconds: 3, branches }));
});
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  env = { ...STORAGE, POINTSMAN_ADMIN_ADDRESS: `127.0.0.1:${await listen(admin)}` };
});
afterAll(() => close(admin));
beforeEach(() => {
  sessions = {};
});

describe('delete', () => {
  test('asks for the name, and says what is lost', async () => {
    const branches = source();
    const ran = await branchesCli(['delete', 'pr-1'], branches, { env, answers: ['pr-1'] });
    expect(ran).toMatchObject({ code: 0, err: '', out: 'branch pr-1 (pr-1-id) is deleted\n' });
    expect(ran.asked).toEqual([
      'Delete branch pr-1 (pr-1-id)? It has written 4 MB, which is lost. Type pr-1 to confirm: ',
    ]);
    expect(branches.removed).toEqual([PR_1]);
  });

  test('another answer, or no terminal, deletes nothing', async () => {
    const branches = source();
    const declined = await branchesCli(['delete', 'pr-1'], branches, { env, answers: ['y'] });
    expect(declined).toMatchObject({ code: 1, err: 'pointsman: not confirmed, so nothing was changed\n' });
    const piped = await branchesCli(['delete', 'pr-1'], branches, { env });
    expect(piped.code).toBe(2);
    expect(piped.err).toContain('Add --yes.');
    expect(branches.removed).toEqual([]);
  });

  test('by id, without a question, as JSON', async () => {
    const { code, out } = await branchesCli(['delete', 'pr-1-id', '--yes', '--json'], source(), { env });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ api_version: 1, deleted: { id: 'pr-1-id', name: 'pr-1' } });
    expect(await branchesCli(['delete', 'pr-1', '--json'], source(), { env })).toMatchObject({ code: 2 });
  });

  test('a branch that has branches is refused and names them, with --force as well', async () => {
    const branches = source();
    for (const force of [[], ['--force']]) {
      const { code, err } = await branchesCli(['delete', 'pr-2', '--yes', ...force], branches, { env });
      expect(code).toBe(4);
      expect(err).toBe('pointsman: branch pr-2 (pr-2-id) has 1 branch of its own: pr-2-b. Delete that first\n');
    }
    expect(branches.removed).toEqual([]);
  });

  test('a root is refused', async () => {
    const alone = new FakeSource([MAIN]);
    const refused = await branchesCli(['delete', 'main', '--yes'], alone, { env });
    expect(refused).toMatchObject({
      code: 4,
      err: 'pointsman: branch main (main-id) is a root, so it may be production. --force deletes it all the same\n',
    });
    expect(alone.removed).toEqual([]);
    expect(await branchesCli(['delete', 'main', '--yes', '--force'], alone, { env })).toMatchObject({ code: 0 });
    expect(alone.removed).toEqual([MAIN]);
  });

  test('a branch with sessions is refused', async () => {
    sessions = { 'pr-1': 2 };
    const branches = source();
    expect(await branchesCli(['delete', 'pr-1', '--yes'], branches, { env })).toMatchObject({
      code: 4,
      err: 'pointsman: branch pr-1 (pr-1-id) has 2 sessions. End them first, or use --force, which breaks them\n',
    });
    expect(branches.removed).toEqual([]);
    expect(await branchesCli(['delete', 'pr-1', '--yes', '--force'], branches, { env })).toMatchObject({ code: 0 });
  });

  test('without a running Pointsman the sessions are unknown: a warning', async () => {
    const { code, err } = await branchesCli(['delete', 'pr-1', '--yes'], source());
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: the sessions of the branch are unknown: no answer from 127\.0\.0\.1:1 \(/);
  });

  test('no such branch: a failure, or a success with --if-exists', async () => {
    const missing = await branchesCli(['delete', 'pr-9', '--yes'], source(), { env });
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toBe(
      'pointsman: there is no branch pr-9 in the storage node at http://pageserver:9898, tenant tenant-1. ' +
        'See: pointsman branches list\n',
    );
    const tolerated = await branchesCli(['delete', 'pr-9', '--yes', '--if-exists'], source(), { env });
    expect(tolerated).toMatchObject({ code: 0, err: '' });
    expect(tolerated.out).toMatch(/^there is no branch pr-9 in .*: nothing to delete\n$/);
  });

  test('several branches of the name: the ids', async () => {
    const twins = new FakeSource([MAIN, aBranch('pr-1', { id: 'a' }), aBranch('pr-1', { id: 'b' })]);
    expect(await branchesCli(['delete', 'pr-1', '--yes'], twins, { env })).toMatchObject({
      code: 4,
      err: 'pointsman: 2 branches have the name pr-1: use the id, one of a, b\n',
    });
  });

  test('the answer of the source, when it fails', async () => {
    const branches = source();
    branches.onRemove = () => ({
      kind: 'failed',
      why: 'DELETE /v1/tenant/t/timeline/x of the storage node: status 412',
    });
    expect(await branchesCli(['delete', 'pr-1', '--yes'], branches, { env })).toMatchObject({
      code: 1,
      err:
        'pointsman: branch pr-1 (pr-1-id) is not deleted: ' +
        'DELETE /v1/tenant/t/timeline/x of the storage node: status 412\n',
    });
  });

  test.each([
    ['console', CONSOLE, /^pointsman: a console has no way to delete a branch in its API/],
    ['static', STATIC, /^pointsman: the branches are in the configuration: remove the entry from branches\.static/],
  ])('the source %s cannot: exit code 2', async (_, own, why) => {
    const branches = source();
    const { code, err } = await branchesCli(['delete', 'pr-1', '--yes'], branches, { env: own });
    expect(code).toBe(2);
    expect(err).toMatch(why);
    expect(branches.removed).toEqual([]);
  });
});
