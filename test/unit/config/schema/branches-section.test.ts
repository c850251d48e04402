// The section branches: its values, its defaults, and the message for each mistake.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import { effectiveYaml } from '../../../../src/config/reference/effective.ts';
import { SEEDS, configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';

const directory = mkdtempSync(join(tmpdir(), 'pointsman-branches-'));
afterAll(() => rmSync(directory, { recursive: true }));
const keyFile = join(directory, 'key');
writeFileSync(keyFile, 'a-key-that-no-output-shows\n', { mode: 0o600 });

const STATIC = '{ source: static, static: { pr-1: 10.0.0.9:55432 } }';
const CONSOLE = `console: { url: "https://console.internal/", project: calm-sea-1234, api_key_file: ${keyFile} }`;
const STORAGE = 'storage: { url: http://pageserver:9898, tenant: 9ef87a5bf0d92544f6fafeeb3239695c }';
const BACKENDS = 'backends: { template: "{id}.branches.svc:5432" }';

function branchesOf(text: string, env = SEEDS) {
  return configOf(load(`branches: ${text}`, env)).branches;
}

test('without the section there are no branches', () => {
  expect(configOf(load('')).branches).toBeUndefined();
});

test('their reserved pool has what any pool of several members has by default', () => {
  const { branches, pools } = configOf(load(`branches: ${STATIC}\npools: { other: { check: /health } }`));
  expect(branches?.pool).toEqual({ ...pools.find(({ name }) => name === 'other'), name: 'branches' });
  expect(branches?.pool).toMatchObject({ exclusive: false, maxSessionAgeMs: undefined, fallback: undefined });
});

test('the defaults', () => {
  expect(branchesOf(STATIC)).toEqual({
    pool: expect.anything(),
    source: { kind: 'static', branches: new Map([['pr-1', { host: '10.0.0.9', port: 55_432 }]]) },
    refreshMs: 15_000,
    allow: undefined,
    backends: {
      template: undefined,
      readTemplate: undefined,
      overrides: new Map(),
      readOverrides: new Map(),
      tls: 'off',
      caFile: undefined,
    },
    connect: { attemptTimeoutMs: 5000, budgetMs: 30_000 },
  });
});

test('a console with every key', () => {
  const text = `{ source: console, ${CONSOLE}, refresh: 1m, allow: ["pr-*", main],
    backends: { template: "{id}.branches.svc:5432", read_template: "{slug}-ro.svc:5433", tls: require,
      overrides: { br-aged-salad: "10.0.0.9:55432" }, read_overrides: { br-aged-salad: "10.0.0.9:55433" } },
    connect: { attempt_timeout: 1s, budget: 20s } }`;
  expect(branchesOf(text)).toEqual({
    pool: expect.anything(),
    source: { kind: 'console', url: 'https://console.internal', project: 'calm-sea-1234', apiKeyFile: keyFile },
    refreshMs: 60_000,
    allow: ['pr-*', 'main'],
    backends: {
      template: { host: '{id}.branches.svc', port: 5432 },
      readTemplate: { host: '{slug}-ro.svc', port: 5433 },
      overrides: new Map([['br-aged-salad', { host: '10.0.0.9', port: 55_432 }]]),
      readOverrides: new Map([['br-aged-salad', { host: '10.0.0.9', port: 55_433 }]]),
      tls: 'require',
      caFile: undefined,
    },
    connect: { attemptTimeoutMs: 1000, budgetMs: 20_000 },
  });
});

test('a storage node, by the environment in part', () => {
  const env = {
    ...SEEDS,
    POINTSMAN_BRANCHES_STORAGE_PG_VERSION: '17',
    POINTSMAN_BRANCHES_STORAGE_NAMES_FILE: '/n.json',
  };
  expect(branchesOf(`{ source: storage, ${STORAGE}, ${BACKENDS} }`, env)?.source).toEqual({
    kind: 'storage',
    url: 'http://pageserver:9898',
    tenant: '9ef87a5bf0d92544f6fafeeb3239695c',
    namesFile: '/n.json',
    pgVersion: 17,
    headersFile: undefined,
  });
});

const HIDDEN = 'console: { url: "https://me:hidden@console", project: p, api_key_file: /k }';

test.each([
  ['{ static: { pr-1: 10.0.0.9:55432 } }', 'branches.source: is missing: expected console, storage or static'],
  ['{ source: static }', 'branches.source: source is static: give branches.static'],
  ['{ source: static, static: {} }', 'branches.static: is empty: name at least one branch'],
  ['{ source: static, static: { pr-1: 10.0.0.9 } }', 'branches.static.pr-1: 10.0.0.9 has no port'],
  [`{ source: console, ${BACKENDS} }`, 'source is console: give branches.console'],
  [`{ source: storage, ${STORAGE} }`, 'no branch would have an address: give template'],
  [`{ source: storage, ${STORAGE}, ${BACKENDS}, allow: [] }`, 'branches.allow: is empty'],
  [`{ source: storage, ${STORAGE}, backends: { template: "{a}.svc:5432" } }`, '{a} is unknown: known are {id}'],
  [`{ source: storage, ${STORAGE}, backends: { template: "branches.svc:5432" } }`, 'all branches would be one server'],
  [`{ source: storage, ${STORAGE}, backends: { template: "{id}.svc" } }`, 'is not a template such as'],
  [`{ source: storage, ${STORAGE}, backends: { template: "{id}.svc:0" } }`, 'is not a template such as'],
  [`{ source: console, ${HIDDEN}, ${BACKENDS} }`, 'the URL carries a user or password'],
  [
    '{ source: storage, storage: { url: http://pageserver:9898/v1, tenant: a }, backends: { template: "{id}:5432" } }',
    'ends with /v1: leave that out',
  ],
  [
    '{ source: storage, storage: { url: http://pageserver:9898, tenant: 12 }, backends: { template: "{id}:5432" } }',
    'expected the id of a tenant, in quotes if it is a number, not 12',
  ],
  [
    '{ source: storage, storage: { url: http://pageserver:9898, tenant: a/b }, backends: { template: "{id}:5432" } }',
    'expected the id of a tenant',
  ],
  [
    '{ source: static, static: { pr-1: "10.0.0.9:55432" }, connect: { attempt_timeout: 31s } }',
    '31s is longer than budget (30s)',
  ],
  ['{ source: static, static: { pr-1: "10.0.0.9:55432" }, refresh: 500ms }', '500ms is too short: at least 1s'],
  [`{ source: storage, ${STORAGE}, backends: { template: "{id}.svc:5432", ca_file: /ca } }`, 'is for tls: require'],
  [
    `{ source: storage, ${STORAGE}, backends: { template: "{id}.svc:5432", tls: require, ca_file: /no-such-file } }`,
    'branches.backends.ca_file: /no-such-file cannot be read: there is no such file',
  ],
  ['{ source: static, static: { pr-1: "10.0.0.9:55432" }, backend: {} }', 'did you mean branches.backends?'],
])('%s', (text, expected) => {
  const problems = problemsOf(load(`branches: ${text}`));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
  expect(problems[0]).not.toContain('hidden');
});

test('the name of the pool that counts branch sessions is reserved, with branches alone', () => {
  const pools = 'pools: { branches: { check: /replica } }\n';
  expect(problemsOf(load(pools))).toEqual([]);
  expect(problemsOf(load(`${pools}branches: ${STATIC}`))[0]).toContain(
    'sessions of branches are counted under this name',
  );
});

test('TLS on both sides: a warning without the section logins', () => {
  const client = 'client: { tls: { mode: terminate, cert: /c, key: /k } }\n';
  const text = `branches: { source: storage, ${STORAGE}, backends: { template: "{id}.svc:5432", tls: require } }`;
  const problems = problemsOf(load(client + text)).join('\n');
  expect(problems).not.toContain('branches.backends.tls');
});

test.each([
  [`{ source: static, static: { a: "h:1" }, ${STORAGE} }`, 'branches.storage: has no effect: source is static'],
  [`{ source: static, static: { a: "h:1" }, ${BACKENDS} }`, 'has no effect: branches.static has the addresses'],
  [
    `{ source: storage, ${STORAGE}, backends: { template: "{id}.svc:1", read_template: "{id}-ro.svc:1" } }`,
    'read_template: has no effect: a storage node does not report read endpoints',
  ],
  [
    `{ source: console, console: { url: https://c, project: p, api_key_file: /no-such-file }, ${BACKENDS} }`,
    '/no-such-file cannot be read: there is no such file: the list of branches cannot be read',
  ],
  [
    `{ source: console, console: { url: http://c, project: p, api_key_file: ${keyFile} }, ${BACKENDS} }`,
    'http sends the API key in plain text',
  ],
])('a warning for %s', (text, expected) => {
  const loaded = load(`branches: ${text}`);
  expect(loaded.kind).toBe('ok');
  expect(warningsOf(loaded)).toContain(expected);
});

test('a key over loopback needs no TLS', () => {
  const console = `console: { url: http://127.0.0.1:9, project: p, api_key_file: ${keyFile} }`;
  expect(warningsOf(load(`branches: { source: console, ${console}, ${BACKENDS} }`))).toBe('');
});

test('the printed configuration loads and means the same', () => {
  const text = `{ source: console, ${CONSOLE}, allow: ["pr-*"], backends: { template: "{id}.branches.svc:5432",
    overrides: { feat/login: "[::1]:5432" }, read_overrides: { feat/login: "[::1]:5433" } } }`;
  const config = configOf(load(`branches: ${text}`));
  const printed = effectiveYaml(config);
  expect(printed).not.toContain('a-key-that-no-output-shows');
  expect(configOf(load(printed, {})).branches).toEqual(config.branches);
});

test('a reload changes the section, and can add and remove it', () => {
  const without = configOf(load(''));
  const before = configOf(load(`branches: ${STATIC}`));
  const after = configOf(load('branches: { source: static, static: { pr-2: 10.0.0.9:55432 }, refresh: 1m }'));
  expect(reconfigured(before, after)).toMatchObject({
    config: { branches: after.branches },
    changed: [
      'branches.refresh 15s -> 1m',
      'branches.static.pr-1 10.0.0.9:55432 -> none',
      'branches.static.pr-2 none -> 10.0.0.9:55432',
    ],
    needsRestart: [],
  });
  expect(reconfigured(without, after).config.branches).toEqual(after.branches);
  expect(reconfigured(after, without).config.branches).toBeUndefined();
});
