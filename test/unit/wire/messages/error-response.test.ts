import { expect, test } from 'vitest';
import { encodeErrorResponse, encodeNotice } from '../../../../src/wire/messages/error-response.ts';
import { errorOf } from '../../../support/sockets/messages.ts';
import { errorFields } from '../../../support/sockets/packets.ts';

test('every field is present, and the length word covers them', () => {
  const bytes = Buffer.from(encodeErrorResponse({ sqlState: '57P03', message: 'no wäy', detail: 'd', hint: 'h' }));
  expect(bytes.length).toBe(1 + bytes.readInt32BE(1));
  expect(bytes.at(-1)).toBe(0);
  expect(errorFields(bytes)).toEqual({ S: 'FATAL', V: 'FATAL', C: '57P03', M: 'no wäy', D: 'd', H: 'h' });
});

test('detail and hint may be absent', () => {
  const bytes = Buffer.from(encodeErrorResponse({ sqlState: '08P01', message: 'm', detail: undefined }));
  expect(Object.keys(errorFields(bytes) ?? {})).toEqual(['S', 'V', 'C', 'M']);
  expect(bytes).toEqual(errorOf(['SFATAL', 'VFATAL', 'C08P01', 'Mm']));
});

test('a NUL in a text cannot end its field', () => {
  const bytes = Buffer.from(encodeErrorResponse({ sqlState: '57P03', message: 'a\0Hevil\0\0', detail: 'x' }));
  expect(errorFields(bytes)).toEqual({ S: 'FATAL', V: 'FATAL', C: '57P03', M: 'a Hevil  ', D: 'x' });
});

test('a text without end is cut', () => {
  expect(encodeErrorResponse({ sqlState: '57P03', message: 'm', detail: 'x'.repeat(1e6) }).length).toBeLessThan(5_000);
});

test('the error of one statement is no end of the session', () => {
  const bytes = Buffer.from(encodeErrorResponse({ severity: 'ERROR', sqlState: '42601', message: 'm' }));
  expect(errorFields(bytes)).toEqual({ S: 'ERROR', V: 'ERROR', C: '42601', M: 'm' });
});

test('a notice ends nothing', () => {
  const bytes = Buffer.from(encodeNotice('m'));
  expect(bytes.toString('latin1', 0, 1)).toBe('N');
  expect(errorFields(Buffer.concat([Buffer.from('E'), bytes.subarray(1)]))).toEqual({
    S: 'NOTICE',
    V: 'NOTICE',
    C: '00000',
    M: 'm',
  });
});
