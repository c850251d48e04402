// One table of error codes: each room that connects says the same of one fault.
import { expect, test } from 'vitest';
import { whyNot } from '../../../src/cli/admin-exchange.ts';
import { errorOf } from '../../../src/http/exchange-error.ts';
import { errnoText, errorCode } from '../../../src/model/errno.ts';
import { failure } from '../../../src/patroni/failure.ts';

const failed = (code: string): Error => Object.assign(new Error('of a library'), { code });

test.each([
  ['EHOSTUNREACH', 'host unreachable', 'unreachable'],
  ['ENETUNREACH', 'network unreachable', 'unreachable'],
  ['ETIMEDOUT', 'connection timed out', 'timeout'],
  ['ENOTFOUND', 'its name cannot be resolved', 'local'],
  ['EMFILE', 'too many open files', 'local'],
])('%s: %s', (code, words, cause) => {
  const said = `${words} (${code})`;
  expect([errnoText(code), errorOf(failed(code)).message, whyNot(failed(code))]).toEqual([words, said, said]);
  expect(failure(failed(code))).toMatchObject({ kind: 'failed', cause, detail: said });
});

test('G12: a request that no socket could be made for is unsent', () => {
  expect(failure(failed('EADDRNOTAVAIL'))).toMatchObject({ cause: 'local', isUnsent: true });
  expect(failure(failed('ENETUNREACH'))).not.toHaveProperty('isUnsent');
});

test.each([
  [['ECONNREFUSED', 'ECONNREFUSED'], 'ECONNREFUSED'],
  [['ECONNREFUSED', 'ETIMEDOUT'], 'ETIMEDOUT'],
  [[], ''],
])('several addresses refused only if each of them did: %j', (codes, code) => {
  expect(errorCode(new AggregateError(codes.map(failed)))).toBe(code);
});

test('a code that is not set is no code', () => {
  expect(errorCode(Object.assign(new Error('of the parser'), { code: undefined }))).toBe('');
});

test('a fault that no table has is our own, and never evidence', () => {
  expect(failure(failed('EODD'))).toEqual({ kind: 'failed', cause: 'local', detail: 'fault on this side (EODD)' });
});
