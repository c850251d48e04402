import { expect, it } from 'vitest';
import {
  isCutError,
  refusalIn,
  refusesForNow as isForNow,
  refusesOthers,
} from '../../../../src/wire/startup/backend-greeting.ts';
import { encodeErrorResponse, encodeNotice } from '../../../../src/wire/messages/error-response.ts';

const refusesForNow = (bytes: Uint8Array): boolean => isForNow(refusalIn(bytes) ?? '');
const shuttingDown = encodeErrorResponse({ sqlState: '57P03', message: 'the database system is shutting down' });

it('knows a temporary refusal by its SQLSTATE, whatever follows the message', () => {
  expect(refusesForNow(shuttingDown)).toBe(true);
  expect(refusesForNow(Uint8Array.of(...shuttingDown, 0x5a, 0, 0))).toBe(true);
});

it('takes no other error for one, even with the same words', () => {
  expect(refusesForNow(encodeErrorResponse({ sqlState: '53300', message: '57P03 C57P03' }))).toBe(false);
  expect(refusesForNow(encodeErrorResponse({ sqlState: '28P01', message: 'password', detail: 'C57P03' }))).toBe(false);
});

it('takes no cut message for a refusal, at any length', () => {
  for (let length = 0; length < shuttingDown.length; length += 1) {
    expect(refusesForNow(Uint8Array.from(shuttingDown.subarray(0, length)))).toBe(false);
  }
});

it('takes no other message for a refusal: an authentication request, a one-byte answer, nonsense', () => {
  expect(refusesForNow(Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 0))).toBe(false);
  expect(refusesForNow(Uint8Array.of(0x53))).toBe(false);
  expect(isCutError(Uint8Array.of(0x53))).toBe(false);
  expect(refusalIn(encodeNotice('shutting down', '57P03'))).toBeUndefined();
  expect(refusesForNow(Uint8Array.of(0x45, 0xff, 0xff, 0xff, 0xff, 0x43))).toBe(false);
  expect(refusesForNow(Uint8Array.of(0x45, 0, 0, 0, 5, 0x43))).toBe(false);
});

it('knows a refusal behind the end of a login, at every length', () => {
  const refusal = Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 0, ...shuttingDown);
  for (let length = 10; length < refusal.length; length += 1) {
    const cut = Uint8Array.from(refusal.subarray(0, length));
    expect(isCutError(cut)).toBe(true);
    expect(refusalIn(cut)).toBeUndefined();
  }
  expect(isCutError(refusal)).toBe(false);
  expect(refusalIn(refusal)).toBe('57P03');
});

it('knows a refusal without a length by its end', () => {
  const text = new TextEncoder().encode('Ecould not fork new process for connection: Cannot allocate memory\n\0');
  expect(refusalIn(text)).toBe('53000');
  expect(refusalIn(text.subarray(0, -1))).toBeUndefined();
});

it('reads a view into a larger buffer', () => {
  const larger = Uint8Array.of(1, 2, 3, ...shuttingDown);
  expect(refusesForNow(larger.subarray(3))).toBe(true);
});

it('knows at every length that the rest of an error is still to come', () => {
  for (let length = 1; length < shuttingDown.length; length += 1) {
    expect(isCutError(Uint8Array.from(shuttingDown.subarray(0, length)))).toBe(true);
  }
  expect(isCutError(shuttingDown)).toBe(false);
  expect(isCutError(Uint8Array.of(0x45, ...new TextEncoder().encode('FATAL:  could not fork')))).toBe(false);
});

it.each([
  ['53300', true],
  ['57P03', true],
  ['53200', true],
  ['XX000', true],
  [undefined, true],
  ['28P01', false],
  ['28000', false],
  ['3D000', false],
])('%s concerns other clients: %s', (sqlState, expected) => {
  expect(refusesOthers(sqlState)).toBe(expected);
});

it('reads no further than the error goes', () => {
  const cut = Buffer.from('E\0\0\0\x0aSERROR\0C57P03\0\0', 'latin1');
  expect(refusalIn(cut)).toBe('XX000');
  expect(refusalIn(Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 0, ...cut))).toBe('XX000');
  const empty = Uint8Array.of(0x45, 0, 0, 0, 4);
  expect([refusalIn(empty), isCutError(empty)]).toEqual(['XX000', false]);
});

it('waits for an error of 30,000 bytes at most', () => {
  const [longest, longer] = [29_999, 30_000].map((size) => Uint8Array.of(0x45, 0, 0, size >> 8, size & 255));
  expect([isCutError(longest ?? shuttingDown), isCutError(longer ?? shuttingDown)]).toEqual([true, false]);
});
