import { expect, test } from 'vitest';
import { errorField } from '../../../src/wire/error-fields.ts';

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
});

test('bytes behind the end of the list are no field', () => {
  expect(errorField(PAYLOAD, 0, PAYLOAD.length, 'C')).toBe('42601');
  expect(errorField(Buffer.from('SERROR\0\0C57P01\0'), 0, 15, 'C')).toBeUndefined();
});
