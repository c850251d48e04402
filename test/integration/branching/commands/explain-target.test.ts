// `pointsman branches explain`: the backend of a target and the setting behind it, or the reason of a refusal.
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aBranch, branchesCli, CONSOLE, FakeSource, MAIN, STORAGE } from '../../../support/fakes/branches-cli.ts';
import { close, listen } from '../../../support/sockets/listen.ts';

const BRANCHES = [MAIN, aBranch('feat/login-2', { hasReadEndpoint: true }), aBranch('pr-1'), aBranch('read')];
const explain = (target: string, env: Readonly<Record<string, string>> = CONSOLE, ...flags: readonly string[]) =>
  branchesCli(['explain', target, ...flags], new FakeSource(BRANCHES), { env });

describe('explain', () => {
  test('a branch by the slug of its name, with both backends and their settings', async () => {
    const { code, out, err } = await explain('app@feat-login-2', { ...CONSOLE, COLUMNS: '120' });
    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')).toEqual([
      'app@feat-login-2 goes to branch feat/login-2 (feat/login-2-id)',
      '  found by  the slug of its name, feat/login-2',
      '  parent    main at 0/3000000',
      '  writes    feat-login-2.branches.svc:5432, by branches.backends.template',
      '  reads     feat-login-2-ro.branches.svc:5432, by branches.backends.read_template',
      '  TLS       off (branches.backends.tls)',
      '  list      4 branches, read now, from project calm-sea-1234 of the console at https://console.internal',
      '',
    ]);
  });

  test.each([
    ['pr-1', 'its name'],
    ['@pr-1', 'its name'],
    ['app%40pr-1', 'its name'],
    ['a@b@pr-1', 'its name'],
    ['app@pr-1-id', 'its id'],
  ])('%s: found by %s', async (target, by) => {
    const { code, out } = await explain(target);
    expect(code).toBe(0);
    expect(out).toContain(`${target} goes to branch pr-1 (pr-1-id)\n  found by  ${by}\n`);
  });

  test.each([
    ['app@pr-9', 1, '3D000', 'no branch has this id, this name or a name with this slug'],
    ['app@main', 4, '28000', 'it is a root, so it may be production.'],
  ])('%s is refused: exit code %i, SQLSTATE %s', async (target, expected, sqlstate, why) => {
    const { code, out } = await explain(target);
    expect(code).toBe(expected);
    expect(out).toMatch(new RegExp(`^${target} is refused with SQLSTATE ${sqlstate}\n  because  ${why}`));
    const { out: text } = await explain(target, CONSOLE, '--json');
    expect(JSON.parse(text)).toMatchObject({ kind: 'refused', sqlstate, why: expect.stringContaining(why) });
  });

  test('a branch outside the allow list', async () => {
    const { code, out } = await explain('app@pr-1', { ...CONSOLE, POINTSMAN_BRANCHES_ALLOW: 'dev-*' });
    expect(code).toBe(4);
    expect(out).toContain('  because  no pattern of branches.allow has its name\n');
  });

  test('a pool comes first; the branch of its name is reachable by its id', async () => {
    const { code, out } = await explain('app@read');
    expect(code).toBe(0);
    expect(out).toBe(
      'app@read goes to the pool read, not to a branch\nthe branch of this name is reachable by its id: app@read-id\n',
    );
    const { out: text } = await explain('app@rw', CONSOLE, '--json');
    expect(JSON.parse(text)).toMatchObject({ kind: 'pool', pool: 'write', hidden_branches: [] });
  });

  test('--json', async () => {
    const { out } = await explain('app@feat-login-2', CONSOLE, '--json');
    expect(JSON.parse(out)).toEqual({
      api_version: 1,
      target: 'feat-login-2',
      kind: 'branch',
      branch: { id: 'feat/login-2-id', name: 'feat/login-2' },
      found_by: 'slug',
      write: { address: 'feat-login-2.branches.svc:5432', rule: 'template', tls: 'off' },
      read: { address: 'feat-login-2-ro.branches.svc:5432', rule: 'read_template', tls: 'off' },
      list: {
        from: 'project calm-sea-1234 of the console at https://console.internal',
        branches: 4,
        age_seconds: 0,
        failing: null,
      },
    });
  });
});

describe('with a running Pointsman', () => {
  const admin = createServer((_, response) => {
    const branches = [
      { id: 'main-id', name: 'main', parent_id: null, sessions: 0 },
      { id: 'old-id', name: 'old', parent_id: 'main-id', parent_lsn: '0/3000060', sessions: 1 },
    ];
    const failing = { failure: 'server_error', why: 'the storage node: status 503', for_seconds: 660 };
    response.end(JSON.stringify({ age_seconds: 720, failing, branches, silent_workers: silent }));
  });
  let address = '';
  let silent: readonly number[] = [];
  beforeAll(async () => {
    address = `127.0.0.1:${await listen(admin)}`;
  });
  afterAll(() => close(admin));

  test('its own list decides, with its age: the source may be down, or have changed', async () => {
    const env = { ...STORAGE, POINTSMAN_ADMIN_ADDRESS: address };
    const { code, out } = await explain('app@old', env);
    expect(code).toBe(0);
    expect(out).toContain('  parent    main at 0/3000060\n');
    expect(out).toContain(
      `  list      2 branches, 12 min old, from the Pointsman at ${address}\n` +
        '            the list cannot be read for 11 min: the storage node: status 503\n',
    );
    expect(await explain('app@pr-1', env)).toMatchObject({ code: 1 });
  });

  test('while a worker is silent its sessions are unknown', async () => {
    silent = [2];
    const env = { ...STORAGE, POINTSMAN_ADMIN_ADDRESS: address, COLUMNS: '200' };
    const { code, out } = await branchesCli(['list'], new FakeSource(BRANCHES), { env });
    expect(code).toBe(0);
    expect(out.replaceAll('\n', ' ')).toContain(
      `Sessions are unknown: workers of the Pointsman at ${address} do not answer: 2.`,
    );
  });
});
