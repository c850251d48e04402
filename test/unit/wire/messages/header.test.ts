// Where messages end, by their headers alone.
import { expect, test } from 'vitest';
import { bodySize, endOfMessage } from '../../../../src/wire/messages/header.ts';
import { aMessage, aNumber, QUERY } from '../../../support/sockets/messages.ts';

test('a message ends where the next one begins', () => {
  const bytes = Buffer.concat([Buffer.alloc(3, 0xff), QUERY, aMessage('Z', Buffer.from('I'))]).subarray(3);
  expect([bodySize(bytes), bodySize(bytes, QUERY.length)]).toEqual([QUERY.length - 5, 1]);
  expect([endOfMessage(bytes, 0), endOfMessage(bytes, QUERY.length)]).toEqual([QUERY.length, QUERY.length + 6]);
});

test('no length ends a message before its beginning', () => {
  expect(endOfMessage(Buffer.concat([Buffer.from('Z'), aNumber(-1)]), 0)).toBe(2 ** 32);
});
