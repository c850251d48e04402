// Addresses that are never contacted are left out of a branch's name, and a name without addresses fails.
import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { allowedLookup } from '../../../../src/proxy/branch/dial-server.ts';

type Result = Parameters<Parameters<LookupFunction>[2]>;

function resultOf(...answer: Result): Result {
  let result: Result | undefined;
  allowedLookup((_host, _options, tell) => tell(...answer))('host', {}, (...told) => (result = told));
  if (result === undefined) throw new Error('it was not told');
  return result;
}

const GOOD = { address: '10.0.0.1', family: 4 };
const METADATA = { address: '169.254.169.254', family: 4 };
const FORBIDDEN = expect.stringMatching(/^its host is .+, which is never contacted$/);

test('an address that is never contacted is left out', () => {
  expect(resultOf(null, [METADATA, GOOD])).toEqual([null, [GOOD]]);
  expect(resultOf(null, GOOD.address, 4)).toEqual([null, GOOD.address, 4]);
});

test.each<[string, Result]>([
  ['one address', [null, METADATA.address, 4]],
  ['several', [null, [METADATA, { address: '169.254.0.1', family: 4 }]]],
])('a name that has no other address fails: %s', (_, answer) => {
  expect(resultOf(...answer)[0]).toMatchObject({ message: FORBIDDEN });
});

test('a name that cannot be resolved has no addresses at all', () => {
  const error = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  // As Node calls it, whatever the type says.
  const told: unknown[] = [];
  const lookup: LookupFunction = (_host, _options, tell) => void Reflect.apply(tell, undefined, [error]);
  allowedLookup(lookup)('host', {}, (...result) => told.push(...result));
  expect(told[0]).toBe(error);
});
