// The reasons why sessions cannot move, in words.
import { expect, test } from 'vitest';
import { failureText, pinText, stayText, staysText } from '../../../src/core/pin-words.ts';
import { PIN_REASONS } from '../../../src/model/moves.ts';

test('the most frequent reason comes first, and the words agree with the number', () => {
  expect(staysText({ temporary_objects: 12, listening: 1, advisory_locks: 3 })).toBe(
    '12 have temporary objects, 3 hold advisory locks, 1 listens',
  );
  expect(staysText({})).toBe('');
});

test.each(PIN_REASONS)('%s has words', (reason) => {
  expect(staysText({ [reason]: 1 })).toMatch(/^1 [a-z]/);
  expect(staysText({ [reason]: 2 })).toMatch(/^2 [a-z]/);
});

test.each([
  ['listening', 'jobs, news', 'listens (jobs, news)'],
  ['listening', '3', 'listens (3)'],
  ['listening', null, 'listens'],
  ['listening', undefined, 'listens'],
  ['advisory_locks', '1', 'holds 1 advisory lock'],
  ['temporary_objects', '3', 'has 3 temporary objects'],
  ['temporary_objects', 'many', 'has temporary objects (many)'],
  ['temporary_objects', '3 or more', 'has temporary objects (3 or more)'],
  ['temporary_objects', 'over 3', 'has temporary objects (over 3)'],
  ['temporary_slots', '1', 'has 1 temporary replication slot'],
  ['too_many_statements', '1001', 'has 1001 prepared statements, and 1000 at most can move'],
  ['role_not_configured', 'app', 'has a role that moves.roles does not name (app)'],
  ['of_a_newer_version', 'x', 'of_a_newer_version (x)'],
])('of one session: %s, %s', (reason, detail, text) => {
  expect(pinText(reason, detail)).toBe(text);
});

test('how many stay, and why', () => {
  expect(stayText({ busy: 1, listening: 2 }, 'stayed')).toEqual(['3 stayed: 2 listen, 1 is busy']);
  expect(stayText({ busy: 0 }, 'stayed')).toEqual([]);
});

test('how many failed: the most frequent reason first', () => {
  expect(failureText({ move_timeout: 1, move_login: 2 })).toEqual(['3 failed: 2 move_login, 1 move_timeout']);
  expect(failureText({ move_login: undefined })).toEqual([]);
});
