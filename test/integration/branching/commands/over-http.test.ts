// `pointsman branches` with the real clients, against a strict storage node and a strict console.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBranchControl } from '../../../../src/branching/control-branches.ts';
import { runCli } from '../../../../src/cli/program.ts';
import { startFakeConsole } from '../../../support/branches/fake-console.ts';
import type { FakeConsole } from '../../../support/branches/fake-console.ts';
import { startFakeStorageNode } from '../../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../../support/branches/fake-storage-node.ts';
import type { Quirks } from '../../../support/branches/quirks.ts';
import { cliParts } from '../../../support/fakes/cli-parts.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-branches-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function run(line: string, env: Readonly<Record<string, string>>) {
  let [out, err] = ['', ''];
  const io = {
    env: { POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1', ...env },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
  };
  const parts = cliParts({
    branches: {
      openSource: (source) => Promise.resolve(createBranchControl(source, { clock: systemClock, random: Math.random })),
    },
  });
  return { code: await runCli(['branches', ...line.split(' ')], io, parts), out, err };
}

describe('a storage node', () => {
  let node: FakeStorageNode;
  let env: Readonly<Record<string, string>>;
  afterEach(async () => {
    expect(node.violations).toEqual([]);
    await node.stop();
  });

  async function start(quirks: Partial<Quirks> = {}): Promise<void> {
    node = await startFakeStorageNode(quirks);
    env = {
      POINTSMAN_BRANCHES_SOURCE: 'storage',
      POINTSMAN_BRANCHES_STORAGE_URL: node.url,
      POINTSMAN_BRANCHES_STORAGE_TENANT: node.tenant,
      POINTSMAN_BRANCHES_STORAGE_NAMES_FILE: join(directory, 'names.json'),
      POINTSMAN_BRANCHES_STORAGE_PG_VERSION: '17',
      POINTSMAN_BRANCHES_BACKENDS_TEMPLATE: '{slug}.svc:5432',
    };
  }

  test('create, find again, a branch of the branch, delete', async () => {
    await start({ isParentAdvancing: true, freeBody: 'html' });
    const created = await run('create pr-1', env);
    expect(created).toMatchObject({ code: 0, err: '' });
    const [, id = ''] =
      /^branch pr-1 \(([0-9a-f]{32})\) is created, from 0{31}1 at 0\/[0-9A-F]+\n/.exec(created.out) ?? [];
    expect(node.timelines.get(id)).toMatchObject({ ancestorId: node.root });
    expect((await run('create pr-1', env)).out).toContain(`branch pr-1 (${id}) exists already`);
    expect(await run('create pr-1-b --parent pr-1', env)).toMatchObject({ code: 0 });
    expect((await run('list', env)).out).toMatch(/^pr-1-b +pr-1 +0 B +pr-1-b\.svc:5432$/m);
    const parent = await run('delete pr-1 --yes', env);
    expect(parent).toMatchObject({ code: 4 });
    expect(parent.err).toContain('has 1 branch of its own: pr-1-b. Delete that first');
    expect(await run('delete pr-1-b --yes', env)).toMatchObject({ code: 0 });
    expect(await run('delete pr-1 --yes', env)).toMatchObject({ code: 0 });
    expect([...node.timelines.keys()]).toEqual([node.root]);
    expect(await run('delete pr-1 --yes --if-exists', env)).toMatchObject({ code: 0 });
  });

  test('not durable within --wait: exit code 3; the same command then finishes the same timeline', async () => {
    await start({ whileCreating: [] });
    node.script = ({ method }) => (method === 'POST' ? { status: 503 } : undefined);
    const unfinished = await run('create pr-1 --wait 100ms', env);
    expect(unfinished.code).toBe(3);
    expect(unfinished.err).toContain('status 503. Run the same command again: it continues with the same branch\n');
    node.script = () => undefined;
    expect(await run('create pr-1', env)).toMatchObject({ code: 0 });
    const sent = node.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
    expect(sent.length).toBeGreaterThan(1);
    expect(new Set(sent).size).toBe(1);
    expect(node.timelines.size).toBe(2);
  });

  test('a list that fails for a moment is read again, within --wait', async () => {
    await start();
    let failures = 1;
    node.script = ({ method }) => (method === 'GET' && failures-- > 0 ? { status: 503 } : undefined);
    const { code, err } = await run('create pr-1', env);
    expect(code).toBe(0);
    expect(err).toMatch(/^trying again: GET \S+ of the storage node: status 503\n$/);
    node.script = () => ({ status: 503 });
    expect(await run('create pr-2 --wait 100ms', env)).toMatchObject({ code: 1 });
    node.script = () => undefined;
    expect(node.timelines.size).toBe(2);
  });

  test('406 is refused: exit code 4, and the name is free again', async () => {
    await start();
    const ahead = await run('create pr-1 --at FFFF/0', env);
    expect(ahead.code).toBe(4);
    expect(ahead.err).toMatch(/^pointsman: pr-1 cannot be created: the storage node cannot create it \(406\)/);
    expect(await run('create pr-1', env)).toMatchObject({ code: 0 });
  });
});

describe('a console', () => {
  let hosted: FakeConsole;
  let env: Readonly<Record<string, string>>;
  let output = '';
  afterEach(async () => {
    expect(hosted.violations).toEqual([]);
    expect(output).not.toContain(hosted.apiKey);
    await hosted.stop();
  });

  async function start(quirks: Partial<Quirks> = {}): Promise<void> {
    hosted = await startFakeConsole(quirks);
    output = '';
    await writeFile(join(directory, 'key'), `${hosted.apiKey}\n`);
    env = {
      POINTSMAN_BRANCHES_SOURCE: 'console',
      POINTSMAN_BRANCHES_CONSOLE_URL: hosted.url,
      POINTSMAN_BRANCHES_CONSOLE_PROJECT: hosted.project,
      POINTSMAN_BRANCHES_CONSOLE_API_KEY_FILE: '/nowhere/key-of-the-daemon',
      POINTSMAN_BRANCHES_BACKENDS_TEMPLATE: '{id}.svc:5432',
    };
  }

  const withKey = async (line: string) => {
    const ran = await run(`${line} --api-key-file ${join(directory, 'key')}`, env);
    output += ran.out + ran.err;
    return ran;
  };

  test('with the key of a person; a lost answer makes no second branch', async () => {
    await start({ lostAfter: new Set([0]), hasEndpoints: true, listsUntilShown: 1 });
    expect(await withKey('create pr-1 --schema-only --endpoint read_write,read_only')).toMatchObject({ code: 0 });
    expect(hosted.branches.map(({ name, isSchemaOnly }) => [name, isSchemaOnly])).toEqual([
      ['main', false],
      ['pr-1', true],
    ]);
    expect((await withKey('create pr-1')).out).toContain('exists already, from main at 0/169AD58\n');
    expect((await withKey('list')).out).toMatch(
      /^pr-1 +br-quiet-hill-2 +main +0\/169AD58 +br-quiet-hill-2\.svc:5432$/m,
    );
    expect((await withKey('explain app@pr-1')).code).toBe(0);
  });

  test('a key that cannot be read, and one that is not accepted', async () => {
    await start();
    const unread = await run('list', env);
    expect(unread.code).toBe(1);
    expect(unread.err).toContain('/nowhere/key-of-the-daemon cannot be read: there is no such file');
    await writeFile(join(directory, 'key'), 'another-key');
    const denied = await withKey('create pr-1');
    expect(denied.code).toBe(1);
    expect(denied.err).toContain('status 401');
    expect(denied.err).not.toContain('another-key');
  });
});
