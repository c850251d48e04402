import { expect, test } from 'vitest';
import { CancelKeys } from '../../../../src/proxy/cancel/cancel-keys.ts';
import type { Target } from '../../../../src/core/routing-table.ts';

const SESSION = { takesCancel: () => false };

function aKey(processId: number, ...secret: readonly number[]) {
  return { processId, secret: String.fromCharCode(...secret) };
}

function at(member: string): Target {
  return { member, address: { host: member, port: 5432 } };
}

test('G17: finds the session of a key among several of one process id, and only by the whole key', () => {
  const keys = new CancelKeys();
  keys.add(aKey(7, 1, 2, 3, 4), at('pg-1'), SESSION);
  keys.add(aKey(7, 1, 2, 3, 5), at('pg-2'), SESSION);
  expect(keys.find(aKey(7, 1, 2, 3, 4))?.server).toEqual(at('pg-1'));
  expect(keys.find(aKey(7, 1, 2, 3, 5))?.server).toEqual(at('pg-2'));
  expect(keys.find(aKey(7, 1, 2, 3, 6))).toBeUndefined();
  expect(keys.find(aKey(7, 1, 2, 3, 4, 5))).toBeUndefined();
  expect(keys.find(aKey(8, 1, 2, 3, 4))).toBeUndefined();
});

test('a forgotten key is not found, others stay, and nothing is left at the end', () => {
  const keys = new CancelKeys();
  const [first, second, third] = ['pg-1', 'pg-2', 'pg-3'].map((member) =>
    keys.add(aKey(7, 1, 2, 3, 4), at(member), SESSION),
  );
  if (first === undefined || second === undefined || third === undefined) throw new Error('unreachable');
  keys.remove(second);
  keys.remove(second);
  // It is garbage now, which would keep the others.
  expect(second.next).toBeUndefined();
  expect(keys.find(aKey(7, 1, 2, 3, 4))?.server).toEqual(at('pg-1'));
  keys.remove(first);
  expect(keys.find(aKey(7, 1, 2, 3, 4))?.server).toEqual(at('pg-3'));
  keys.remove(third);
  expect(keys.size()).toBe(0);
});

test('finds each of many keys, also those of negative process ids, while others come and go', () => {
  const keys = new CancelKeys();
  const ids = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? index : -index * 64));
  const entries = ids.map((id) => keys.add(aKey(id, 1, 2, 3, 4), at(`pg-${id}`), SESSION));
  const found = (): readonly (string | undefined)[] =>
    ids.map((id) => {
      const server = keys.find(aKey(id, 1, 2, 3, 4))?.server;
      return server === undefined || !('member' in server) ? undefined : server.member;
    });
  expect(found()).toEqual(ids.map((id) => `pg-${id}`));
  for (const [index, keyed] of entries.entries()) if (index % 3 === 0) keys.remove(keyed);
  expect(found()).toEqual(ids.map((id, index) => (index % 3 === 0 ? undefined : `pg-${id}`)));
});
