// Messages of a client, read from the bytes so far.
import { describe, expect, test } from 'vitest';
import { BodyReader, readMessage } from '../../../../src/wire/messages/client-messages.ts';
import { aMessage, aNumber, QUERY, SYNC } from '../../../support/sockets/messages.ts';

describe('a message', () => {
  test('is read once it is complete, and not the bytes behind it', () => {
    const bytes = Buffer.concat([QUERY, Buffer.from('X')]);
    for (let length = 0; length < QUERY.length; length += 1) {
      expect(readMessage(Uint8Array.from(bytes.subarray(0, length)), 100)).toEqual({ kind: 'need_more' });
    }
    expect(readMessage(bytes, 100)).toEqual({
      kind: 'message',
      length: QUERY.length,
      type: 'Q',
      body: Buffer.from('select 1\0'),
    });
  });

  test('may have no body', () => {
    expect(readMessage(SYNC, 100)).toMatchObject({ kind: 'message', length: 5, type: 'S' });
  });

  test('that is longer than the limit is refused by its header alone', () => {
    expect(readMessage(aMessage('Q', Buffer.alloc(100)).subarray(0, 5), 99)).toEqual({
      kind: 'invalid',
      why: 'a message of 100 bytes exceeds the limit of 99',
    });
    expect(readMessage(aMessage('Q', Buffer.alloc(100)), 100).kind).toBe('message');
  });

  test.each([0, 3, -1])('with the length %i is refused', (length) => {
    const bytes = Buffer.concat([Buffer.from('Q'), aNumber(length)]);
    expect(readMessage(bytes, 100)).toEqual({ kind: 'invalid', why: `invalid message length: ${length}` });
  });
});

describe('the fields of a body', () => {
  test('are read in their order', () => {
    const reader = new BodyReader(Buffer.concat([Buffer.from('Sname\0'), aNumber(-2), Buffer.from('\0\x07'), QUERY]));
    expect([reader.byte(), reader.text(), reader.int32(), reader.int16()]).toEqual(['S', 'name', -2, 7]);
    expect(reader.bytes(0)).toHaveLength(0);
    expect(reader.bytes(QUERY.length - 1)).toEqual(QUERY.subarray(0, -1));
    expect([reader.byte(), reader.byte()]).toEqual(['\0', undefined]);
  });

  test('may be some bytes of many, and the last ones', () => {
    const reader = new BodyReader(Buffer.from('abcde'));
    expect([reader.bytes(2), reader.bytes(3), reader.bytes(1)]).toEqual([
      Buffer.from('ab'),
      Buffer.from('cde'),
      undefined,
    ]);
  });

  test('that are not there are undefined, as are all behind them', () => {
    const reader = new BodyReader(Buffer.from('ab'));
    expect(reader.text()).toBeUndefined();
    expect([reader.byte(), reader.int16(), reader.int32(), reader.text(), reader.bytes(1)]).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    expect(new BodyReader(Buffer.from('ab')).bytes(-1)).toBeUndefined();
    expect(new BodyReader(Buffer.from('abc')).int32()).toBeUndefined();
    expect(new BodyReader(Buffer.from('a')).int16()).toBeUndefined();
  });
});
