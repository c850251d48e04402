// Logins that name the certificate of their connection, and those that do not.
import { expect, test } from 'vitest';
import { bindingOf, headerFor, mechanismsIn } from '../../../../src/wire/talk/channel-binding.ts';

const HASH = Buffer.from('hash');
const PLUS = 'p=tls-server-end-point,,';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('only a bound login has the hash of the certificate behind its header', () => {
  expect(bindingOf(PLUS, HASH)).toBe(base64(`${PLUS}hash`));
  expect(bindingOf(PLUS, undefined)).toBe(base64(PLUS));
  expect(bindingOf('n,,', HASH)).toBe(base64('n,,'));
});

test('a login binds where it can', () => {
  const offer = mechanismsIn(Buffer.from('SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'));
  expect(offer).toEqual(['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256']);
  expect(headerFor(offer, HASH)).toBe(PLUS);
  expect(headerFor(offer, undefined)).toBe('n,,');
  expect(headerFor(offer.slice(1), HASH)).toBe('n,,');
});
