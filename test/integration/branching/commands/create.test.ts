// `pointsman branches create`: what it sends to the source, what it refuses before, and how each outcome reads.
import { describe, expect, test } from 'vitest';
import {
  aBranch,
  branchesCli,
  CONSOLE,
  FakeSource,
  MAIN,
  STATIC,
  STORAGE,
} from '../../../support/fakes/branches-cli.ts';

const source = (): FakeSource => new FakeSource([MAIN, aBranch('pr-1'), aBranch('feat/login-2')]);
const IN_STORAGE = 'the storage node at http://pageserver:9898, tenant tenant-1';

/** A storage node whose branches have these addresses. */
const configWith = (overrides: string): string =>
  'cluster: { seeds: [http://pg1:8008] }\nbranches:\n  source: storage\n' +
  '  storage: { url: http://pageserver:9898, tenant: t, names_file: /names.json, pg_version: 17 }\n' +
  `  backends: { overrides: { ${overrides} } }\n`;

describe('create', () => {
  test('the branch, where it comes from, and how to connect', async () => {
    const branches = source();
    const { code, out, err } = await branchesCli(['create', 'pr-2'], branches);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      'branch pr-2 (pr-2-id) is created, from main at 0/3000000\n' +
        "connect with: psql 'postgresql://USER@127.0.0.1:6432/DATABASE@pr-2'\n",
    );
    expect(branches.wishes).toEqual([
      {
        name: 'pr-2',
        parent: undefined,
        lsn: undefined,
        schemaOnly: false,
        endpoints: [],
        waitMs: expect.any(Number),
        onRetry: expect.any(Function),
      },
    ]);
  });

  test('parent, position and time to wait', async () => {
    const branches = source();
    const argv = ['create', 'pr-2', '--parent', 'pr-1', '--at', '0/3000060', '--wait', '5min'];
    expect((await branchesCli(argv, branches)).out).toMatch(/^branch pr-2 \(pr-2-id\) is created, from pr-1 at /);
    expect(branches.wishes).toMatchObject([{ parent: aBranch('pr-1'), lsn: '0/3000060' }]);
    const [{ waitMs } = { waitMs: 0 }] = branches.wishes;
    expect(waitMs).toBeGreaterThan(60_000);
    expect(waitMs).toBeLessThanOrEqual(300_000);
  });

  test('on a console: the schema alone, and endpoints', async () => {
    const branches = source();
    const argv = ['create', 'pr-2', '--schema-only', '--endpoint', 'read_write,read_only'];
    expect(await branchesCli(argv, branches, { env: CONSOLE })).toMatchObject({ code: 0, err: '' });
    expect(branches.wishes).toMatchObject([{ schemaOnly: true, endpoints: ['read_write', 'read_only'] }]);
  });

  test('a branch that exists already is a success', async () => {
    const branches = source();
    branches.onCreate = () => ({ kind: 'created', branch: aBranch('pr-1'), isNew: false });
    const { code, out } = await branchesCli(['create', 'pr-1'], branches);
    expect(code).toBe(0);
    expect(out).toMatch(/^branch pr-1 \(pr-1-id\) exists already, from main at 0\/3000000\n/);
  });

  test('--json', async () => {
    const { out } = await branchesCli(['create', 'pr-2', '--json'], source());
    expect(JSON.parse(out)).toEqual({
      api_version: 1,
      created: true,
      branch: { id: 'pr-2-id', name: 'pr-2', parent_id: 'main-id', parent_lsn: '0/3000000' },
      target: 'pr-2',
      backend: 'pr-2.branches.svc:5432',
    });
  });

  test('a name with a slash in a URL; a listener on every address', async () => {
    const { out } = await branchesCli(['create', 'feat/x'], source(), {
      env: { ...STORAGE, POINTSMAN_LISTENERS_0_ADDRESS: '0.0.0.0:6432' },
    });
    expect(out).toContain("connect with: psql 'postgresql://USER@HOST:6432/DATABASE@feat%2Fx'\n");
  });

  test('a branch without an address is created, with a warning', async () => {
    const env = { ...STORAGE, POINTSMAN_BRANCHES_BACKENDS_TEMPLATE: '{name}.branches.svc:5432' };
    const { code, out, err } = await branchesCli(['create', 'feat/x'], source(), { env });
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: clients cannot use it yet: .*"feat\/x" cannot be part of a host name/);
    expect(err).toMatch(/ Look again with: pointsman branches explain feat\/x\n$/);
    expect(out).toBe('branch feat/x (feat/x-id) is created, from main at 0/3000000\n');
  });

  test('an address that comes to the configuration with the creation counts', async () => {
    const branches = source();
    const files = {
      get 'own.yaml'(): string {
        return configWith(branches.wishes.length === 0 ? 'pr-1: 10.0.0.9:1' : 'pr-1: 10.0.0.9:1, pr-2-id: 10.0.0.9:2');
      },
    };
    const ran = await branchesCli(['create', 'pr-2', '-c', 'own.yaml', '--json'], branches, { env: {}, files });
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(ran.out)).toMatchObject({ backend: '10.0.0.9:2' });
  });

  test('a branch that clients shall not use: the command has an allow list of its own', async () => {
    const files = { 'own.yaml': `${configWith('masked: 10.0.0.9:1')}  allow: ['pr-*']\n` };
    const argv = ['create', 'masked', '-c', 'own.yaml'];
    expect(await branchesCli(argv, source(), { env: {}, files })).toMatchObject({ code: 4 });
    const env = { POINTSMAN_BRANCHES_ALLOW: 'masked' };
    expect(await branchesCli(argv, source(), { env, files })).toMatchObject({ code: 0, err: '' });
  });

  test('each retry is a line; not finished at the deadline: exit code 3, and what to do', async () => {
    const branches = source();
    branches.onCreate = ({ onRetry }) => {
      onRetry?.('POST /v1/tenant/t/timeline/ of the storage node: status 503');
      return { kind: 'unfinished', why: 'the storage node is creating it' };
    };
    expect(await branchesCli(['create', 'pr-2'], branches)).toMatchObject({
      code: 3,
      out: '',
      err:
        'trying again: POST /v1/tenant/t/timeline/ of the storage node: status 503\n' +
        'pointsman: pr-2 is not finished yet: the storage node is creating it. ' +
        'Run the same command again: it continues with the same branch\n',
    });
  });

  test.each([
    ['refused', 4, 'pointsman: pr-2 cannot be created: a branch of this name exists, with the parent x\n'],
    ['failed', 1, 'pointsman: pr-2 is not created: a branch of this name exists, with the parent x\n'],
  ] as const)('%s by the source: exit code %i', async (kind, code, err) => {
    const branches = source();
    branches.onCreate = () => ({ kind, why: 'a branch of this name exists, with the parent x' });
    expect(await branchesCli(['create', 'pr-2'], branches)).toMatchObject({ code, out: '', err });
  });
});

describe('a rule refuses, before anything is sent: exit code 4', () => {
  test.each([
    ['a name of a pool', 'read', {}, 'read is a name of the pool read, which comes first: choose another name'],
    ['an alias of a pool', 'rw', {}, 'rw is a name of the pool write, which comes first: choose another name'],
    [
      'a name outside the allow list',
      'test-1',
      { POINTSMAN_BRANCHES_ALLOW: 'pr-*' },
      'no client could use test-1: no pattern of branches.allow has its name',
    ],
    [
      'the name of a root',
      'main',
      {},
      'no client could use main: it is a root, so it may be production. A pattern in branches.allow that names it ' +
        'allows it',
    ],
  ])('%s', async (_, name, env, why) => {
    const branches = source();
    const ran = await branchesCli(['create', name], branches, { env: { ...STORAGE, ...env } });
    expect(ran).toMatchObject({ code: 4, out: '', err: `pointsman: ${why}\n` });
    expect(branches.wishes).toEqual([]);
  });

  test('a name that several branches have', async () => {
    const twins = new FakeSource([MAIN, aBranch('pr-1', { id: 'a' }), aBranch('pr-1', { id: 'b' })]);
    const { code, err } = await branchesCli(['create', 'pr-1'], twins);
    expect(code).toBe(4);
    expect(err).toContain('several branches have this name or slug: use an id, one of a, b');
    const parent = await branchesCli(['create', 'pr-2', '--parent', 'pr-1'], twins);
    expect(parent).toMatchObject({
      code: 4,
      err: 'pointsman: --parent: 2 branches have the name pr-1: use the id, one of a, b\n',
    });
  });
});

describe('a wrong command line or configuration: exit code 2', () => {
  test.each<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    ['an empty name', [''], STORAGE, /the name is empty/],
    ['an @', ['a@b'], STORAGE, /a@b has an @, which separates the database from the branch/],
    ['a space', ['a b'], STORAGE, /a b has a space or an invisible character/],
    ['a long name', ['x'.repeat(257)], STORAGE, /the name has more than 256 characters/],
    [
      'a position that is none',
      ['x', '--at', '3000060'],
      STORAGE,
      /--at 3000060 is no position: write it as 0\/3000060/,
    ],
    ['the schema alone on a storage node', ['x', '--schema-only'], STORAGE, /--schema-only is for a console/],
    ['endpoints on a storage node', ['x', '--endpoint', 'read_only'], STORAGE, /--endpoint is for a console/],
    ['an unknown endpoint', ['x', '--endpoint', 'rw'], CONSOLE, /argument 'rw' is invalid\. Write read_write/],
    ['a position on a console', ['x', '--at', '0/3000060'], CONSOLE, /--at is for a storage node/],
    ['a time without a unit', ['x', '--wait', '5'], STORAGE, /5 has no unit: write 5s or 5ms/],
    ['a branch of the configuration', ['x'], STATIC, /add it to branches\.static, then `pointsman reload`/],
    ['no names file', ['x'], { ...STORAGE, POINTSMAN_BRANCHES_STORAGE_NAMES_FILE: '' }, /names_file is not set/],
    ['no version', ['x'], { ...STORAGE, POINTSMAN_BRANCHES_STORAGE_PG_VERSION: '' }, /pg_version is not set/],
    ['a key for a storage node', ['x', '--api-key-file', 'f'], STORAGE, /--api-key-file is for `source: console`/],
  ])('%s', async (_, argv, env, why) => {
    const branches = source();
    const { code, out, err } = await branchesCli(['create', ...argv], branches, { env });
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(why);
    expect(branches.wishes).toEqual([]);
  });
});

test('an unknown parent: exit code 1', async () => {
  const branches = source();
  expect(await branchesCli(['create', 'x', '--parent', 'nope'], branches)).toMatchObject({
    code: 1,
    err: `pointsman: --parent: there is no branch nope in ${IN_STORAGE}. See: pointsman branches list\n`,
  });
  expect(branches.wishes).toEqual([]);
});
