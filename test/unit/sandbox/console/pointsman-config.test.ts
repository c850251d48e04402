// The configuration of the sandbox is one that Pointsman takes, with every part.
import { expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config/load.ts';
import { pointsmanConfig, secondConfig } from '../../../../src/sandbox/console/pointsman-config.ts';
import type { RoutedSandbox } from '../../../../src/sandbox/console/pointsman-config.ts';
import { SERVER, tlsFile } from '../../../support/values/tls-files.ts';

const ROUTED: RoutedSandbox = {
  scope: 'sandbox',
  app: { user: 'app', password: 'app', database: 'app' },
  members: [{ name: 'pg-1', host: '127.0.0.1', port: 21001, api: 'http://127.0.0.1:22001' }],
  branches: undefined,
  platform: undefined,
  lookup: undefined,
  questions: undefined,
  hasMoves: false,
  tls: undefined,
};
const LOOKUP = { role: 'app', lookupUser: 'lookup', passwordFile: '/tmp/password' };
const ADDRESSES = { write: '127.0.0.1:6432', read: '127.0.0.1:6433', admin: '127.0.0.1:8432' };

function loaded(routed: RoutedSandbox) {
  const found = loadConfig({ file: 'pointsman.yaml', env: {}, readFile: () => pointsmanConfig(routed, ADDRESSES) });
  if (found.kind === 'invalid') expect.fail(JSON.stringify(found.problems));
  return found.config;
}

test('without a platform there is no such section', () => {
  expect(loaded(ROUTED).platform).toBeUndefined();
});

test.each(['general', 'beta'] as const)('with a platform: everything that a command needs, %s', (dialect) => {
  const at = {
    url: 'http://127.0.0.1:23001',
    apiKeyFile: '/tmp/key',
    authHeader: 'x-key',
    betaHeader: 'x-beta',
    skillsField: 'skill',
    fileField: 'document',
    messageCheck: '',
  };
  expect(loaded({ ...ROUTED, platform: { dialect, at } }).platform).toEqual({
    url: at.url,
    apiKeyFile: at.apiKeyFile,
    authHeader: at.authHeader,
    headers: {},
    betaHeader: at.betaHeader,
    skills: { dialect, filesField: at.skillsField, extraFields: {} },
    files: { field: at.fileField, extraFields: {} },
  });
});

test('with moves: the role of the application, the lookup role, and each planned way out of a pool', () => {
  expect(loaded(ROUTED).moves).toBeUndefined();
  const config = loaded({ ...ROUTED, lookup: LOOKUP, hasMoves: true });
  expect(config.moves).toMatchObject({
    mode: 'always',
    roles: ['app'],
    verifiers: { user: 'lookup', passwordFile: '/tmp/password', database: 'postgres' },
  });
  const [write, read] = config.pools;
  expect(write?.onLeave).toMatchObject({ demoted: 'move', operator: 'move' });
  expect(read?.onLeave).toMatchObject({ lagging: 'move', promoted: 'move', fallback_over: 'move', operator: 'move' });
});

test('with causal reads: the role that asks, a stream that can be read, and sessions that move', () => {
  const questions = { user: 'monitor', passwordFile: '/tmp/monitor', ...SERVER };
  const routed = { ...ROUTED, lookup: LOOKUP, questions, hasMoves: true };
  const config = loaded(routed);
  expect(config.questions).toMatchObject({ user: 'monitor', passwordFile: '/tmp/monitor' });
  expect(config.client.tls.mode).toBe('terminate');
  expect(config.pools.map(({ causalReads }) => causalReads)).toEqual([
    undefined,
    { scope: 'cluster', waitMs: 300, late: 'primary' },
  ]);
  expect(config.pools[1]?.onLeave.lagging).toBe('move');
  const tls = { caFile: tlsFile('ca.pem'), ...SERVER };
  expect(loaded({ ...routed, tls }).client.tls.mode).toBe('require');
});

test('with TLS: clients without it are refused, and members are verified', () => {
  expect(loaded(ROUTED).client.tls.mode).toBe('passthrough');
  const tls = { caFile: tlsFile('ca.pem'), ...SERVER };
  const config = loaded({ ...ROUTED, tls, lookup: LOOKUP });
  expect(config.moves).toBeUndefined();
  expect(config.client.tls).toMatchObject({ mode: 'require', ...SERVER });
  expect(config.backend.tls).toMatchObject({ mode: 'verify-full', caFile: tls.caFile });
  expect(config.logins).toMatchObject({ roles: ['app'], verifiers: { user: 'lookup', passwordFile: '/tmp/password' } });
  expect(secondConfig({ ...ROUTED, tls }, ADDRESSES)).toContain(
    `psql 'postgresql://app:app@127.0.0.1:6442/app?sslmode=verify-full&sslrootcert=${tls.caFile}`,
  );
});

const PLACE = { id: 'br-1', host: '127.0.0.1', port: 25001 };

test('with branches: the API that they come from, and the other one in the first lines', () => {
  const from = {
    storageUrl: 'http://127.0.0.1:24001',
    consoleUrl: 'http://127.0.0.1:24002',
    tenant: 'a-tenant',
    rootTimeline: 'a-root',
    project: 'calm-sea-1234',
    apiKeyFile: '/tmp/key',
    namesFile: '/tmp/names.json',
    pgMajor: 18,
    timelines: () => [PLACE],
    projectBranches: () => [PLACE],
    projectReaders: () => [{ ...PLACE, port: 25002 }],
    onChange: () => {},
  };
  const parts = [from.storageUrl, from.tenant, from.consoleUrl, from.project, from.apiKeyFile];
  for (const source of ['storage', 'console'] as const) {
    const routed = { ...ROUTED, branches: { source, from } };
    const section = loaded(routed).branches;
    expect(section?.source.kind).toBe(source);
    expect(section?.backends.overrides.get(PLACE.id)?.port).toBe(25_001);
    expect(section?.backends.readOverrides.get(PLACE.id)?.port).toBe(source === 'console' ? 25_002 : undefined);
    for (const part of parts) expect(pointsmanConfig(routed, ADDRESSES)).toContain(part);
  }
});
