import { expect, test } from 'vitest';
import { CancelKeys } from '../../../src/proxy/cancel-keys.ts';
import type { Target } from '../../../src/core/routing-table.ts';

function aKey(processId: number, ...secret: readonly number[]) {
  return { processId, secret: Uint8Array.from(secret) };
}

function at(member: string): Target {
  return { member, address: { host: member, port: 5432 } };
}

test('G17: finds the session of a key among several of one process id, and only by the whole key', () => {
  const keys = new CancelKeys();
  keys.add(aKey(7, 1, 2, 3, 4), at('pg-1'));
  keys.add(aKey(7, 1, 2, 3, 5), at('pg-2'));
  expect(keys.find(aKey(7, 1, 2, 3, 4))).toEqual(at('pg-1'));
  expect(keys.find(aKey(7, 1, 2, 3, 5))).toEqual(at('pg-2'));
  expect(keys.find(aKey(7, 1, 2, 3, 6))).toBeUndefined();
  expect(keys.find(aKey(7, 1, 2, 3, 4, 5))).toBeUndefined();
  expect(keys.find(aKey(8, 1, 2, 3, 4))).toBeUndefined();
});

test('what was forgotten is not found, others stay, and nothing is left in the end', () => {
  const keys = new CancelKeys();
  const forgetOne = keys.add(aKey(7, 1, 2, 3, 4), at('pg-1'));
  const forgetOther = keys.add(aKey(7, 1, 2, 3, 4), at('pg-2'));
  forgetOne();
  forgetOne();
  expect(keys.find(aKey(7, 1, 2, 3, 4))).toEqual(at('pg-2'));
  forgetOther();
  expect(keys.size()).toBe(0);
});
