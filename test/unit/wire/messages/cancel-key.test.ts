import { expect, test } from 'vitest';
import {
  CANCEL_OFFER,
  cancelOffer,
  cancelRequest,
  isOfPooler,
  isSameKey,
  requestedKey,
} from '../../../../src/wire/messages/cancel-key.ts';
import { aCancelOf, aCancelRequest } from '../../../support/sockets/packets.ts';

test.each([4, 32, 256])('a request with a secret of %d bytes', (length) => {
  expect(requestedKey(aCancelRequest(length))).toEqual({ processId: 42, secret: '\x07'.repeat(length) });
});

test.each([0, 3, 257])('a secret of %d bytes belongs to no session', (length) => {
  expect(requestedKey(aCancelRequest(length))).toBeUndefined();
});

test('a packet that is too short, and one within a larger buffer', () => {
  expect(requestedKey(Buffer.alloc(8))).toBeUndefined();
  const inside = Buffer.concat([Buffer.alloc(3, 0xff), aCancelRequest(4)]).subarray(3);
  expect(requestedKey(inside)).toEqual({ processId: 42, secret: '\x07'.repeat(4) });
});

test.each([4, 32, 256])('a request of our own has the bytes that a client would send: %d bytes of secret', (length) => {
  expect(Buffer.from(cancelRequest({ processId: 42, secret: '\x07'.repeat(length) }))).toEqual(aCancelRequest(length));
  expect(Buffer.from(cancelRequest({ processId: -2, secret: '\xff\x00\x80\x01' }))).toEqual(
    aCancelOf(-2, Buffer.from([0xff, 0, 0x80, 1])),
  );
});

test('an offer is a request with a code of its own', () => {
  const request = cancelRequest({ processId: 42, secret: 'abcd' });
  const offer = Buffer.from(cancelOffer({ processId: 42, secret: 'abcd' }));
  expect(offer.readInt32BE(4)).toBe(CANCEL_OFFER);
  expect(offer.subarray(8)).toEqual(Buffer.from(request).subarray(8));
  expect([offer.readInt32BE(0), requestedKey(offer)]).toEqual([offer.length, { processId: 42, secret: 'abcd' }]);
});

const KEY = { processId: 42, secret: '\x01\x02\x03\x04' };

test.each([
  ['the same', { processId: 42, secret: '\x01\x02\x03\x04' }, true],
  ['another process', { processId: 43, secret: '\x01\x02\x03\x04' }, false],
  ['another first byte', { processId: 42, secret: '\x00\x02\x03\x04' }, false],
  ['another last byte', { processId: 42, secret: '\x01\x02\x03\x05' }, false],
  ['a longer one', { processId: 42, secret: '\x01\x02\x03\x04\x00' }, false],
  ['a shorter one', { processId: 42, secret: '\x01\x02\x03' }, false],
])('compared with %s', (_, other, expected) => {
  expect(isSameKey(KEY, other)).toBe(expected);
  expect(isSameKey(other, KEY)).toBe(expected);
});

// Process ids of Linux end at 2 ** 22.
test.each([
  [undefined, false],
  [-1, true],
  [0, false],
  [1, false],
  [2 ** 22, false],
  [2 ** 22 + 1, true],
])('the process id %s can only be that of a pooler: %s', (processId, expected) => {
  expect(isOfPooler(processId === undefined ? undefined : { processId, secret: '' })).toBe(expected);
});
