import { expect, test } from 'vitest';
import { errorField, isFatal, sqlStateOf } from '../../../../src/wire/messages/error-fields.ts';
import { serverError } from '../../../../src/wire/talk/server-replies.ts';

const PAYLOAD = Buffer.from('SFEHLER\0VERROR\0C42601\0Mein Täxt\0\0C57P01\0');
const SIZE = PAYLOAD.indexOf('C57P01');

test.each([
  ['S', 'FEHLER'],
  ['V', 'ERROR'],
  ['C', '42601'],
  ['M', 'ein Täxt'],
  ['H', undefined],
])('field %s is %s', (type, expected) => {
  expect(errorField(PAYLOAD, 0, SIZE, type)).toBe(expected);
  expect(errorField(Buffer.concat([Buffer.from('xx'), PAYLOAD]), 2, SIZE, type)).toBe(expected);
});

test('a cut field is absent, whatever follows in the buffer', () => {
  const cut = PAYLOAD.indexOf('C42601') + 6;
  expect(errorField(PAYLOAD, 0, cut, 'C')).toBeUndefined();
  expect(errorField(PAYLOAD, 0, cut + 1, 'C')).toBe('42601');
  expect(errorField(PAYLOAD, 0, 0, 'S')).toBeUndefined();
  for (const type of 'SC') expect(errorField(Buffer.from('SERROR'), 0, 6, type)).toBeUndefined();
});

test('bytes behind the end of the list are no field', () => {
  expect(errorField(PAYLOAD, 0, PAYLOAD.length, 'C')).toBe('42601');
  expect(errorField(Buffer.from('SERROR\0\0C57P01\0'), 0, 15, 'C')).toBeUndefined();
  expect(errorField(Buffer.from('SERROR\0\0\0C57P01\0'), 0, 16, 'C')).toBeUndefined();
});

test.each([
  ['C42601\0', '42601'],
  ['C4260\0', 'XX000'],
  [`C${'4'.repeat(100_000)}\0`, 'XX000'],
  ['C42\u001B01\0', 'XX000'],
  ['\0', 'XX000'],
])('a SQLSTATE has five letters or digits: %#', (fields, expected) => {
  const bytes = Buffer.from(fields);
  expect(sqlStateOf(bytes, 0, bytes.length)).toBe(expected);
});

test('the message of an error is one printable line, and not the whole of a long one', () => {
  const body = Buffer.from(`VERROR\0Cxxxxxxxx\0M\u001B]0;title\u0007\r\n${'long '.repeat(100_000)}\0\0`);
  const { message, sqlState } = serverError(body, '');
  expect(message).toMatch(/^ \]0;title (?:long )+/);
  expect(message).toHaveLength(500);
  expect(sqlState).toBe('XX000');
});

test.each([
  ['SFATAL\0VFATAL\0\0', true],
  ['SPANIK\0VPANIC\0\0', true],
  ['SFATAL\0VERROR\0\0', false],
  // Before PostgreSQL 9.6.
  ['SFATAL\0\0', true],
  ['SERROR\0\0', false],
  ['MFATAL\0\0', false],
])('the session ends with it: %#', (fields, expected) => {
  const bytes = Buffer.from(fields);
  expect(isFatal(bytes, 0, bytes.length)).toBe(expected);
});
