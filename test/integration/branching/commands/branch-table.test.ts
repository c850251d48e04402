// `pointsman branches list`: the table, its notes, and JSON.
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const admin = createServer((_, response) =>
  response.end(JSON.stringify({ age_seconds: 3, branches: [{ id: 'pr-2-id', name: 'pr-2', sessions: 2 }] })),
);
let address = '';
beforeAll(async () => {
  address = `127.0.0.1:${await listen(admin)}`;
});
afterAll(() => close(admin));

const BRANCHES = [
  aBranch('pr-2', { lastRecordLsn: '0/3400000' }),
  aBranch('pr-1'),
  MAIN,
  aBranch('pr-1-b', { parentId: 'pr-1-id' }),
];

const list = (branches = BRANCHES, terminal: Parameters<typeof branchesCli>[2] = {}, ...flags: readonly string[]) =>
  branchesCli(['list', ...flags], new FakeSource(branches), terminal);

describe('list', () => {
  test('the parents, distances, backends and sessions, the roots first', async () => {
    const env = { ...STORAGE, POINTSMAN_ADMIN_ADDRESS: address, COLUMNS: '120' };
    const { code, out, err } = await list(BRANCHES, { env });
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      '4 branches in the storage node at http://pageserver:9898, tenant tenant-1',
      '',
      'NAME    ID         PARENT  BRANCHED AT  BEHIND PARENT  WRITTEN  BACKEND                   SESSIONS',
      'main    main-id    -       -                        -        -  none: a root                     0',
      'pr-1    pr-1-id    main    0/3000000            16 MB      0 B  pr-1.branches.svc:5432           0',
      'pr-1-b  pr-1-b-id  pr-1    0/3000000              0 B      0 B  pr-1-b.branches.svc:5432         0',
      'pr-2    pr-2-id    main    0/3000000            16 MB     4 MB  pr-2.branches.svc:5432           2',
      '',
      'Never written: pr-1, pr-1-b. Remove one with: pointsman branches delete NAME',
      '',
    ]);
  });

  test('80 columns leave ids out first', async () => {
    const { out } = await list(BRANCHES, { env: { ...STORAGE, POINTSMAN_ADMIN_ADDRESS: address } });
    expect(out).toContain('NAME    PARENT  BEHIND PARENT  WRITTEN  BACKEND                   SESSIONS\n');
  });

  test('a source that reports no positions has no columns for them; sessions can be unknown', async () => {
    const branches = BRANCHES.map((one) => ({ ...one, lastRecordLsn: undefined }));
    const { code, out } = await list(branches, { env: { ...CONSOLE, COLUMNS: '120' } });
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, 4)).toEqual([
      '4 branches in project calm-sea-1234 of the console at https://console.internal',
      '',
      'NAME    ID         PARENT  BRANCHED AT  BACKEND',
      'main    main-id    -       -            none: a root',
    ]);
    expect(out).toMatch(/\nSessions are unknown: no answer from 127\.0\.0\.1:1 \(connection refused\)\. Is\nPoints/);
  });

  test('branches of the configuration, and no branches at all', async () => {
    const listed = ['pr-1', 'pr-2'].map((name) =>
      aBranch(name, { id: name, parentId: undefined, parentLsn: undefined, lastRecordLsn: undefined }),
    );
    const fixed = await list(listed, { env: STATIC });
    expect(fixed.out.split('\n').slice(0, 5)).toEqual([
      '2 branches in branches.static of the configuration',
      '',
      'NAME  BACKEND',
      'pr-1  10.0.0.9:55432',
      'pr-2  10.0.0.9:55433',
    ]);
    const none = await list([]);
    expect(none.code).toBe(0);
    expect(none.out).toMatch(/^no branches in the storage node at /);
  });

  test('every reason for a branch without a backend has its word', async () => {
    const branches = [
      MAIN,
      aBranch('other'),
      aBranch('dev-1', { id: 'a' }),
      aBranch('dev-1', { id: 'b' }),
      aBranch('...', { id: 'c' }),
    ];
    const env = { ...STORAGE, POINTSMAN_BRANCHES_ALLOW: 'dev-*,...' };
    const { out } = await list(branches, { env });
    expect(out).toMatch(/^main .*none: a root$/m);
    expect(out).toMatch(/^other .*none: not in allow$/m);
    // Clients reach them by their ids, but both have the same slug in their address.
    expect(out.match(/^dev-1 .*none: no address$/gm)).toHaveLength(2);
    expect(out).toMatch(/^\.\.\. .*none: no address$/m);
  });

  test('--json', async () => {
    const env = { ...STORAGE, POINTSMAN_ADMIN_ADDRESS: address };
    const { out } = await list([MAIN, aBranch('pr-2', { lastRecordLsn: '0/3400000' })], { env }, '--json');
    expect(JSON.parse(out)).toEqual({
      api_version: 1,
      source: 'storage',
      read_from: 'the storage node at http://pageserver:9898, tenant tenant-1',
      sessions_from: `the Pointsman at ${address}`,
      branches: [
        {
          id: 'main-id',
          name: 'main',
          parent_id: null,
          parent_name: null,
          parent_lsn: null,
          last_record_lsn: '0/4000000',
          behind_parent_bytes: null,
          written_bytes: null,
          backend: null,
          why_no_backend: 'it is a root, so it may be production. A pattern in branches.allow that names it allows it',
          sessions: 0,
        },
        {
          id: 'pr-2-id',
          name: 'pr-2',
          parent_id: 'main-id',
          parent_name: 'main',
          parent_lsn: '0/3000000',
          last_record_lsn: '0/3400000',
          behind_parent_bytes: 16 * 2 ** 20,
          written_bytes: 4 * 2 ** 20,
          backend: 'pr-2.branches.svc:5432',
          why_no_backend: null,
          sessions: 2,
        },
      ],
    });
  });

  test('a source that cannot be read: the reason, exit code 1', async () => {
    const source = new FakeSource([]);
    source.onList = () => ({ kind: 'failed', why: 'GET /v1/tenant/t/timeline of the storage node: status 503' });
    expect(await branchesCli(['list'], source)).toMatchObject({
      code: 1,
      out: '',
      err:
        'pointsman: the branches cannot be read from the storage node at http://pageserver:9898, tenant tenant-1: ' +
        'GET /v1/tenant/t/timeline of the storage node: status 503\n',
    });
  });
});
