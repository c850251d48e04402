import { expect, test } from 'vitest';
import { SharedNames } from '../../../src/proxy/client-names.ts';

const namesOf = (user: string, application?: string) => ({ login: { user, database: 'shop' }, application });

test('equal names are one object, different ones are not', () => {
  const shared = new SharedNames();
  const first = shared.share(namesOf('app', 'orders'));
  expect(shared.share(namesOf('app', 'orders'))).toBe(first);
  expect(shared.share(namesOf('app'))).not.toBe(first);
  expect(shared.share(namesOf('ap', 'orders'))).not.toBe(first);
  expect(shared.share({ login: {}, application: undefined })).toEqual({ login: {}, application: undefined });
});

test('clients with ever new names do not fill the memory', () => {
  const shared = new SharedNames();
  for (let at = 0; at < 1_000; at += 1) expect(shared.share(namesOf(`user${at}`)).login.user).toBe(`user${at}`);
  expect(shared.size()).toBeLessThanOrEqual(256);
});
