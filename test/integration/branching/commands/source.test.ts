// How `pointsman branches` finds its source: a file, the environment, or the configuration of a running Pointsman.
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { branchesCli, CONSOLE, FakeSource, MAIN, STATIC } from '../../../support/fakes/branches-cli.ts';
import { close, listen } from '../../../support/sockets/listen.ts';

const list = (env: Readonly<Record<string, string>>, ...flags: readonly string[]) =>
  branchesCli(['list', ...flags], new FakeSource([MAIN]), { env });

test('the environment alone, without a cluster', async () => {
  const { code, opened } = await list(CONSOLE);
  expect(code).toBe(0);
  expect(opened).toEqual([
    {
      kind: 'console',
      url: 'https://console.internal',
      project: 'calm-sea-1234',
      apiKeyFile: '/run/secrets/console',
    },
  ]);
});

test('--api-key-file replaces the key of the configuration', async () => {
  const { opened } = await list(CONSOLE, '--api-key-file', '/home/sre/console-key');
  expect(opened).toMatchObject([{ apiKeyFile: '/home/sre/console-key' }]);
});

test('a file, and a file without branches', async () => {
  expect(await list(STATIC)).toMatchObject({ code: 0, opened: [{ kind: 'static' }] });
  const files = { 'plain.yaml': 'cluster: { seeds: [http://pg1:8008] }' };
  const plain = await branchesCli(['list', '-c', 'plain.yaml'], new FakeSource([]), { env: {}, files });
  expect(plain).toMatchObject({
    code: 2,
    err: 'pointsman: plain.yaml has no section `branches`: add one, as config/branches.yaml shows\n',
  });
});

test('a file with a mistake: the mistake', async () => {
  const files = { 'bad.yaml': 'cluster: { seeds: [http://pg1:8008] }\nbranches: { source: neon }' };
  const { code, err } = await branchesCli(['list', '-c', 'bad.yaml'], new FakeSource([]), { env: {}, files });
  expect(code).toBe(2);
  expect(err).toMatch(/^bad\.yaml:2:\d+: branches\.source: /);
});

describe('without a configuration', () => {
  const STORAGE = {
    source: 'storage',
    storage: { url: 'http://pageserver:9898', tenant: 't', names_file: '/var/lib/names.json', pg_version: 17 },
    backends: { template: '{id}.svc:5432' },
  };
  let configuration: Readonly<Record<string, unknown>>;
  const admin = createServer(({ url }, response) => {
    if (url !== '/config') response.statusCode = 404;
    response.end(JSON.stringify(url === '/config' ? { configuration } : { error: 'unknown path' }));
  });
  let address = '';
  beforeAll(async () => {
    address = `127.0.0.1:${await listen(admin)}`;
  });
  afterAll(() => close(admin));
  beforeEach(() => {
    configuration = { cluster: { seeds: ['http://pg1:8008'] }, branches: STORAGE };
  });

  test('the running Pointsman gives it: on this machine its names file can be used', async () => {
    const source = new FakeSource([MAIN]);
    const ran = await branchesCli(['create', 'pr-1'], source, { env: { POINTSMAN_ADMIN_ADDRESS: address } });
    expect(ran).toMatchObject({ code: 0, err: '', opened: [{ kind: 'storage', namesFile: '/var/lib/names.json' }] });
    expect(source.wishes).toMatchObject([{ name: 'pr-1' }]);
  });

  test('a names file that this command cannot find is never made a second time', async () => {
    configuration = { branches: { ...STORAGE, storage: { ...STORAGE.storage, names_file: 'names.json' } } };
    const source = new FakeSource([MAIN]);
    const ran = await branchesCli(['create', 'pr-1', '--admin', address], source, { env: {} });
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/^pointsman: branches\.storage\.names_file \(names\.json\) has no absolute path: run this/);
    expect(source.wishes).toEqual([]);
  });

  test('it has no branches', async () => {
    configuration = {};
    expect(await list({}, '--admin', address)).toMatchObject({
      code: 2,
      err:
        `pointsman: the Pointsman at ${address} has no section \`branches\`: ` +
        'add one, as config/branches.yaml shows\n',
    });
  });

  test('its configuration is of another version', async () => {
    configuration = { branches: { ...STORAGE, source: 'cloud' } };
    const { code, err } = await list({}, '--admin', address);
    expect(code).toBe(1);
    expect(err).toContain(`the configuration of the Pointsman at ${address} cannot be used here`);
    expect(err).toContain('branches.source');
  });

  test('no Pointsman answers', async () => {
    const { code, err } = await list({ POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1' });
    expect(code).toBe(1);
    expect(err).toBe(
      'pointsman: no answer from 127.0.0.1:1 (connection refused). Is Pointsman running with this admin.address? ' +
        'Or name the configuration: -c FILE.\n',
    );
  });
});
