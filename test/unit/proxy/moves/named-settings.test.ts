// The settings that a database names, as they were found last.
import { expect, test } from 'vitest';
import { NamedByDatabase, NOTHING_NAMED } from '../../../../src/proxy/moves/named-settings.ts';

test('the names of a database, also of objects that are gone', () => {
  const named = new NamedByDatabase();
  expect(named.of('orders')).toEqual(NOTHING_NAMED);
  named.learn('orders', { version: '1', names: ['app.tenant'], unclear: ['16400'] });
  named.learn('orders', undefined);
  named.learn('orders', { version: '2', names: ['app.user'], unclear: [] });
  expect(named.of('orders')).toEqual({ version: '2', names: ['app.user', 'app.tenant'], unclear: [] });
  expect(named.of('stock')).toEqual(NOTHING_NAMED);
});

test('many names of objects that are gone have an end', () => {
  const named = new NamedByDatabase();
  const names = Array.from({ length: 390 }, (_, at) => `a.n${at}`);
  named.learn('orders', { version: '1', names, unclear: [] });
  named.learn('orders', { version: '2', names: Array.from({ length: 20 }, (_, at) => `b.n${at}`), unclear: [] });
  expect(named.of('orders').names).toHaveLength(400);
  expect(named.of('orders').names.slice(0, 20)).toContain('b.n19');
});
