import { expect, test } from 'vitest';
import { isSameKey, requestedKey } from '../../../src/wire/cancel-key.ts';
import { aCancelRequest } from '../../support/packets.ts';

test.each([4, 32, 256])('a request with a secret of %d bytes', (length) => {
  expect(requestedKey(aCancelRequest(length))).toEqual({ processId: 42, secret: new Uint8Array(length).fill(7) });
});

test.each([0, 3, 257])('a secret of %d bytes belongs to nobody', (length) => {
  expect(requestedKey(aCancelRequest(length))).toBeUndefined();
});

test('a packet too short to be one, and one within a larger buffer', () => {
  expect(requestedKey(Buffer.alloc(8))).toBeUndefined();
  const inside = Buffer.concat([Buffer.alloc(3, 0xff), aCancelRequest(4)]).subarray(3);
  expect(requestedKey(inside)).toEqual({ processId: 42, secret: new Uint8Array(4).fill(7) });
});

const KEY = { processId: 42, secret: Uint8Array.of(1, 2, 3, 4) };

test.each([
  ['the same', { processId: 42, secret: Uint8Array.of(1, 2, 3, 4) }, true],
  ['another process', { processId: 43, secret: Uint8Array.of(1, 2, 3, 4) }, false],
  ['another first byte', { processId: 42, secret: Uint8Array.of(0, 2, 3, 4) }, false],
  ['another last byte', { processId: 42, secret: Uint8Array.of(1, 2, 3, 5) }, false],
  ['a longer one', { processId: 42, secret: Uint8Array.of(1, 2, 3, 4, 0) }, false],
  ['a shorter one', { processId: 42, secret: Uint8Array.of(1, 2, 3) }, false],
])('compared with %s', (_, other, expected) => {
  expect(isSameKey(KEY, other)).toBe(expected);
  expect(isSameKey(other, KEY)).toBe(expected);
});
