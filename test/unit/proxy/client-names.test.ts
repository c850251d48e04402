import { expect, test } from 'vitest';
import { nameKey } from '../../../src/proxy/client-names.ts';

const keyOf = (user?: string, application?: string) =>
  nameKey({ login: user === undefined ? {} : { user, database: 'shop' }, application });

test('equal names have one key, different ones have their own', () => {
  expect(keyOf('app', 'orders')).toBe(keyOf('app', 'orders'));
  const all = [keyOf('app', 'orders'), keyOf('app'), keyOf('ap', 'orders'), keyOf('app', ''), keyOf()];
  expect(new Set(all).size).toBe(all.length);
});
