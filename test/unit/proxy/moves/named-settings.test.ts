// The settings that a database names are looked for again after some seconds, and for each database.
import { expect, test } from 'vitest';
import { NamedSettings } from '../../../../src/proxy/moves/named-settings.ts';

test('the names of a database, until it is time to look again', () => {
  const named = new NamedSettings();
  expect(named.of('orders', 0)).toBeUndefined();
  named.learn('orders', ['app.tenant'], 0);
  expect(named.of('orders', 4_999)).toEqual(['app.tenant']);
  expect(named.of('stock', 1)).toBeUndefined();
  expect(named.of('orders', 5_000)).toBeUndefined();
});

test('an answer without the names leaves those that are known', () => {
  const named = new NamedSettings();
  named.learn('orders', [], 0);
  named.learn('orders', undefined, 1);
  expect(named.of('orders', 2)).toEqual([]);
});
