import { describe, expect, test } from 'vitest';
import { movability, movabilityBefore } from '../../../src/core/movability.ts';
import type { MoveFacts } from '../../../src/core/movability.ts';
import { READING_SETTINGS, type CarriedState, type PreparedStatement } from '../../../src/model/moves.ts';
import { aState } from '../../support/values/carried-state.ts';
import { FACTS as ANY_FACTS } from '../../support/values/move-facts.ts';

const FACTS: MoveFacts = { ...ANY_FACTS, preparedNames: ['s'] };
const STATE = aState();

function prepared(statement: string, isFromSql: boolean): PreparedStatement {
  return { name: 's', statement, parameterTypes: [], resultColumns: undefined, isFromSql };
}

test('a session that nothing keeps is movable', () => {
  expect(movabilityBefore(FACTS)).toEqual({ kind: 'movable' });
  expect(movability(FACTS, STATE)).toEqual({ kind: 'movable' });
});

test.each<readonly [Partial<MoveFacts>, string, string | undefined]>([
  [{ isReadable: false }, 'unreadable', undefined],
  [{ isReplication: true }, 'replication', undefined],
  [{ isRoleConfigured: false }, 'role_not_configured', undefined],
  [{ loginFault: 'md5' }, 'authentication', undefined],
  [{ hiddenState: 'LOAD' }, 'hidden_state', undefined],
  [{ isUnnamedTooLong: true }, 'unnamed_statement', undefined],
  [{ isUnnamedInDoubt: true }, 'unclear_statement', 'the unnamed statement, after an error'],
])('%j: %s, before its server is asked', (facts, reason, detail) => {
  const pinned = { kind: 'pinned', reason, ...(detail !== undefined && { detail }) };
  expect(movabilityBefore({ ...FACTS, ...facts })).toMatchObject(pinned);
  expect(movability({ ...FACTS, ...facts }, STATE)).toMatchObject({ kind: 'pinned', reason });
});

test.each<readonly [Partial<CarriedState>, string, string]>([
  [{ listening: ['a'] }, 'listening', 'a'],
  [{ listening: ['a', 'b'] }, 'listening', 'a, b'],
  [{ holdableCursors: ['c'] }, 'holdable_cursors', 'c'],
  [{ holdableCursors: ['c', 'd'] }, 'holdable_cursors', 'c, d'],
  [{ advisoryLocks: 1 }, 'advisory_locks', '1'],
  [{ temporaryObjects: 1 }, 'temporary_objects', '1'],
  [{ temporarySlots: 1 }, 'temporary_slots', '1'],
  [{ sessionUser: 'other' }, 'session_authorization', 'other'],
  [{ privilegedSettings: ['log_statement'] }, 'privileged_settings', 'log_statement'],
  [{ privilegedSettings: ['a.b', 'c.d'] }, 'privileged_settings', 'a.b, c.d'],
  [{ prepared: Array.from({ length: 1_001 }, () => prepared('select 1', false)) }, 'too_many_statements', '1001'],
])('%j', (state, reason, detail) => {
  expect(movability(FACTS, { ...STATE, ...state })).toEqual({ kind: 'pinned', reason, detail });
});

test('a function that computes names of settings keeps the session, unless the operator lists settings', () => {
  const state = { ...STATE, unclearNames: { why: 'computes', object: 'function app.set_tenant()' } as const };
  const detail = 'the function app.set_tenant() computes names of settings';
  expect(movability(FACTS, state)).toEqual({ kind: 'pinned', reason: 'hidden_state', detail });
  expect(movability({ ...FACTS, areSettingsListed: true }, state)).toEqual({ kind: 'movable' });
});

test('the detail of a state with very many names is a short line', () => {
  const listening = Array.from({ length: 5_000 }, (_, at) => `channel\n${at}`);
  const found = movability(FACTS, { ...STATE, listening });
  expect(found).toMatchObject({
    kind: 'pinned',
    reason: 'listening',
    detail: expect.stringMatching(/^channel 0, .{289}$/),
  });
});

test('as many statements as are prepared again', () => {
  const state = { ...STATE, prepared: Array.from({ length: 1_000 }, () => prepared('select 1', false)) };
  expect(movability(FACTS, state)).toEqual({ kind: 'movable' });
});

test.each<readonly [string, string, boolean]>([
  [String.raw`select 'a\b'`, 'standard_conforming_strings', true],
  ["select 'ab'", 'standard_conforming_strings', false],
  ["select '\u00e9'", 'client_encoding', true],
  ["select '1/2/2026'::date", 'client_encoding', false],
  ["select '1/2/2026'::date", 'DateStyle', true],
  ["set TimeZone = '+02:00'", 'TimeZone', false],
  ['select $a$1/2/2026$a$::date', 'DateStyle', true],
  ["select '{null}'::text[]", 'array_nulls', true],
  ['select 1 where $1 is null', 'array_nulls', false],
  [String.raw`select E'\'', '{NULL}'::text[]`, 'array_nulls', true],
  [String.raw`select E'\'', 'June'::date`, 'DateStyle', false],
  [String.raw`select E'\'', '1/2/2026'::date`, 'DateStyle', true],
  [`select 1 as "it's", '{null}'::text[]`, 'array_nulls', true],
  ["select -- it's\n '{null}'::text[]", 'array_nulls', true],
  ["select /* it's */ '1/2/2026'::date", 'DateStyle', true],
  ["select /* it's 1 */ 'a' /*", 'DateStyle', false],
  ["select /* /* */ it's */ '1/2/2026'::date", 'DateStyle', true],
  ["select 1 -- 'null'", 'array_nulls', false],
  ["select '--', '{null}'::text[]", 'array_nulls', true],
  ['select $1 = (NULL)', 'transform_null_equals', true],
  ['select $1 = /* a */ null', 'transform_null_equals', true],
  ['select $1 where $2 is null', 'transform_null_equals', false],
])('the unnamed statement %s after a change of %s keeps the session: %s', (text, name, isPinned) => {
  const found = movabilityBefore({ ...FACTS, unsureUnnamed: { text, changedReading: [name] } });
  const pinned = { kind: 'pinned', reason: 'unclear_statement', detail: 'the unnamed statement' };
  expect(found).toEqual(isPinned ? pinned : { kind: 'movable' });
});

describe('a statement', () => {
  test.each([
    'prepare s as select 1',
    'PREPARE s (int) AS select $1;  ',
    '/* a */ -- b\n prepare s as select 1',
    'prepare\ns as select 1',
  ])('of SQL PREPARE alone is prepared again: %s', (text) => {
    expect(movability(FACTS, { ...STATE, prepared: [prepared(text, true)] })).toEqual({ kind: 'movable' });
  });

  test.each([
    'select 1; prepare s as select 1',
    'prepare s as select 1; delete from t',
    'prepare s as select 1; -- the end',
    "/* ; */ do $$ begin execute 'prepare s as select 1'; end $$",
    '/* /* nested */ */ prepare s as select 1',
    'prepared as select 1',
  ])('with anything else in its text is not: %s', (text) => {
    const state = { ...STATE, prepared: [prepared(text, true)] };
    expect(movability(FACTS, state)).toEqual({ kind: 'pinned', reason: 'unclear_statement', detail: 's' });
  });

  test.each([
    ["prepare s as select '1/2/2026'::date", 'unclear_statement'],
    ['prepare s as select null = null', 'unclear_statement'],
    ['prepare s as select 1', undefined],
  ])('that a function has prepared may have been read otherwise: %s', (text, reason) => {
    const state = { ...STATE, prepared: [prepared(text, true)] };
    expect(movability(FACTS, state)).toEqual({ kind: 'movable' });
    const found = movability({ ...FACTS, preparedNames: ['other'] }, state);
    expect('reason' in found ? found.reason : undefined).toBe(reason);
    expect(movability({ ...FACTS, preparedNames: [] }, { ...STATE, prepared: [prepared(text, false)] }).kind).toBe(
      'movable',
    );
  });

  test('is not, when the session has a setting that says how it is read, and whose changes no server tells', () => {
    const state = { ...STATE, prepared: [prepared("select '{null}'::text[]", false)] };
    const settings = new Map([['array_nulls', 'off']]);
    expect(movability(FACTS, { ...state, settings })).toMatchObject({ reason: 'unclear_statement' });
    expect(movability(FACTS, { ...state, settings: new Map([['xmloption', 'document']]) })).toEqual({
      kind: 'movable',
    });
    const set = { ...STATE, settings, prepared: [prepared('set array_nulls = off', false)] };
    expect(movability(FACTS, set)).toEqual({ kind: 'movable' });
  });

  test('with a backslash is not, when the session has set what a backslash means', () => {
    const state = { ...STATE, prepared: [prepared(String.raw`select 'a\b'`, false)] };
    expect(movability(FACTS, state)).toEqual({ kind: 'movable' });
    const settings = new Map([['standard_conforming_strings', 'off']]);
    expect(movability(FACTS, { ...state, settings })).toMatchObject({ reason: 'unclear_statement' });
    const plain = { ...STATE, settings, prepared: [prepared('select 1', false)] };
    expect(movability(FACTS, plain)).toEqual({ kind: 'movable' });
    // As drivers do in every session.
    const usual = new Map([['standard_conforming_strings', 'on']]);
    expect(movability(FACTS, { ...state, settings: usual })).toEqual({ kind: 'movable' });
    const changed = { ...FACTS, changedReading: ['standard_conforming_strings'] };
    expect(movability(changed, state)).toMatchObject({ reason: 'unclear_statement' });
  });

  test.each([
    ["select '1/2/2026'::date", 'unclear_statement'],
    ["select $1 || 'a' || $2 || 'today'::timestamptz", 'unclear_statement'],
    ["select $1 || 'a' || $2 || 'b', 5", undefined],
    ["set TimeZone = '+02:00'", undefined],
  ])('with a date in it is not, when the session has changed how dates are read: %s', (text, reason) => {
    const state = { ...STATE, prepared: [prepared(text, false)] };
    expect(movability(FACTS, state)).toEqual({ kind: 'movable' });
    for (const name of ['DateStyle', 'IntervalStyle', 'TimeZone']) {
      const found = movability({ ...FACTS, changedReading: [name] }, state);
      expect('reason' in found ? found.reason : undefined).toBe(reason);
    }
  });
});

// A client writes the texts, and all clients wait while one is read.
test.each([
  ['prepare s as select 1', ' ', '; select 2'],
  ['prepare s as select 1; ', ' ', 'x'],
  ['', '-- x\n', 'x'],
  ['', '/* x */', 'x'],
  ['select ', "'a", ''],
  ['select ', '$a ', ''],
  ['select ', '= (', ''],
])('a long statement of %j and many %j takes linear time', (beginning, part, end) => {
  const text = beginning + part.repeat(200_000 / part.length) + end;
  const from = performance.now();
  const state = { ...STATE, prepared: [prepared(text, true)] };
  for (const name of READING_SETTINGS) movability({ ...FACTS, changedReading: [name] }, state);
  expect(performance.now() - from).toBeLessThan(2_000);
});
