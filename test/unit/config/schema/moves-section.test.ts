// The section moves: its values, its defaults, and the message for each mistake.
import { expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import { effectiveYaml } from '../../../../src/config/reference/effective.ts';
import { SEEDS, configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';

/** A file that can be read, wherever this test runs. */
const HERE = import.meta.filename;

test('without the section no session moves', () => {
  expect(configOf(load('')).moves).toBeUndefined();
});

test('the defaults', () => {
  expect(configOf(load('moves: { roles: [app] }')).moves).toEqual({
    mode: 'planned',
    roles: ['app'],
    verifiers: undefined,
    md5: false,
    waitMs: 10_000,
    concurrent: 8,
    perSecond: 200,
    questions: 16,
    parkTimeoutMs: 30_000,
    maxStateBytes: 65_536,
    settings: [],
    onStays: 'drain',
  });
});

test('every key, by the environment in part', () => {
  const text = `moves: { mode: always, roles: [app, "svc_*"], md5: true, wait: 5s, per_second: 50, park_timeout: 1m,
    verifiers: { user: pm, password_file: ${HERE}, database: admin, query: "SELECT f($1)" },
    max_state: 1MB, settings: [app.tenant, a.b.c], on_stays: abort }`;
  expect(configOf(load(text, { ...SEEDS, POINTSMAN_MOVES_CONCURRENT: '4' })).moves).toEqual({
    mode: 'always',
    roles: ['app', 'svc_*'],
    verifiers: { kind: 'query', user: 'pm', passwordFile: HERE, database: 'admin', query: 'SELECT f($1)' },
    md5: true,
    waitMs: 5000,
    concurrent: 4,
    perSecond: 50,
    questions: 16,
    parkTimeoutMs: 60_000,
    maxStateBytes: 1_048_576,
    settings: ['app.tenant', 'a.b.c'],
    onStays: 'abort',
  });
});

test('a lookup role alone uses the function of the documents', () => {
  expect(configOf(load('moves: { roles: [app], verifiers: { user: pm } }')).moves?.verifiers).toEqual({
    kind: 'query',
    user: 'pm',
    passwordFile: undefined,
    database: 'postgres',
    query: 'SELECT pointsman.verifier($1)',
  });
});

test('verifiers of a file', () => {
  const loaded = load(`moves: { roles: [app], verifiers: { file: ${HERE} } }`);
  expect(configOf(loaded).moves?.verifiers).toEqual({ kind: 'file', file: HERE });
  expect(warningsOf(loaded)).not.toContain('cannot be read');
});

test.each([
  ['mode: planned', 'moves.roles: '],
  ['roles: []', 'moves.roles: is empty, so no session could move'],
  ['roles: [app], mode: ever', 'moves.mode: expected planned or always'],
  ['roles: [app], verifiers: {}', 'moves.verifiers: has no source: give user and password_file, or file'],
  ['roles: [app], verifiers: { user: pm, file: /f }', 'user and file both give the verifiers'],
  ['roles: [app], verifiers: { user: pm, query: SELECT 1 }', 'moves.verifiers.query: has no parameter for the role'],
  ['roles: [app], verifiers: { user: pm, query: "SELECT f($10)" }', 'has no parameter for the role'],
  ['roles: [app], verifiers: { user: pm, password: s }', 'moves.verifiers.password: unknown key'],
  ['roles: [app], concurrent: 0', 'moves.concurrent: expected a whole number from 1 to 1000'],
  ['roles: [app], per_second: 0.5', 'moves.per_second: expected a whole number from 1'],
  ['roles: [app], park_timeout: 0', 'moves.park_timeout: 0 is too short'],
  ['roles: [app], max_state: 10B', 'moves.max_state: 10B is too small: at least 1kB'],
  ['roles: [app], settings: [work_mem]', 'expected the name of a custom setting such as app.tenant, not "work_mem"'],
  ['roles: [app], on_stays: keep', 'moves.on_stays: expected drain, close or abort'],
])('{ %s }', (text, expected) => {
  const problems = problemsOf(load(`moves: { ${text} }`));
  expect(problems.join('\n')).toContain(expected);
  expect(problems).toHaveLength(1);
});

test.each([
  ['md5: true', 'moves.md5: has no effect: without moves.verifiers'],
  [`verifiers: { file: ${HERE}, database: admin }`, 'moves.verifiers.database: has no effect: file has the verifiers'],
  ['verifiers: { file: /no-such-file }', 'moves.verifiers.file: /no-such-file cannot be read'],
  ['verifiers: { user: pm, password_file: /no-such-file }', 'moves.verifiers.password_file: /no-such-file cannot'],
])('a warning for { %s }', (text, expected) => {
  const loaded = load(`moves: { roles: [app], ${text} }`);
  expect(loaded.kind).toBe('ok');
  expect(warningsOf(loaded)).toContain(expected);
});

test('the printed configuration loads and means the same', () => {
  const text = `moves: { roles: ["*"], verifiers: { user: pm, password_file: ${HERE} }, settings: [app.tenant] }`;
  const config = configOf(load(text));
  expect(configOf(load(effectiveYaml(config), {})).moves).toEqual(config.moves);
});

test('a reload takes the section over, and single keys of it', () => {
  const [without, first] = [configOf(load('')), configOf(load('moves: { roles: [app] }'))];
  expect(reconfigured(without, first)).toMatchObject({ config: { moves: first.moves }, needsRestart: [] });
  const second = configOf(load('moves: { roles: [app], per_second: 20 }'));
  expect(reconfigured(first, second)).toMatchObject({
    config: { moves: second.moves },
    changed: ['moves.per_second 200 -> 20'],
    needsRestart: [],
  });
  expect(reconfigured(first, without).config.moves).toBeUndefined();
});

test('sessions of a pool move by its on_leave, which needs this section', () => {
  const pools = 'pools: { read: { on_leave: { lagging: move, operator: move } } }';
  const loaded = load(`${pools}\nmoves: { roles: [app] }`);
  const read = configOf(loaded).pools.find(({ name }) => name === 'read');
  expect(read?.onLeave).toMatchObject({ lagging: 'move', operator: 'move', promoted: 'drain' });
  expect(problemsOf(load(pools))).toEqual(
    ['lagging', 'operator'].map((cause) => expect.stringMatching(new RegExp(`on_leave\\.${cause}\\b.*: move needs`))),
  );
});
