// The whole messages of a server, in chunks of any size.
import { expect, test } from 'vitest';
import { MessageReader } from '../../../../src/wire/messages/message-reader.ts';
import { aMessage, aNumber } from '../../../support/sockets/messages.ts';

/** The types and the sizes of what it reads; `long` for what it skips. */
function readAll(reader: MessageReader): readonly string[] {
  const read: string[] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) {
    if (next.kind === 'invalid') return [...read, 'invalid'];
    read.push(`${next.type} ${next.body === undefined ? 'long' : next.body.length}`);
  }
  return read;
}

// If it copied what it has for each chunk, this would take minutes.
test('scenario 37: one-byte chunks of a long message take linear time', () => {
  const reader = new MessageReader(1_000_000);
  const bytes = Buffer.concat([aMessage('S', Buffer.alloc(5)), aMessage('D', Buffer.alloc(1_000_000)), aMessage('Z')]);
  const read: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    reader.add(bytes.subarray(at, at + 1));
    read.push(...readAll(reader));
  }
  expect(read).toEqual(['S 5', 'D 1000000', 'Z 0']);
});

test('bodies stay as they were when more bytes come', () => {
  const reader = new MessageReader(100);
  const [first, second] = [aMessage('S', Buffer.from('first')), aMessage('S', Buffer.from('second'))];
  reader.add(Buffer.concat([first, second.subarray(0, 7)]));
  const next = reader.next();
  reader.add(second.subarray(7));
  readAll(reader);
  reader.add(Buffer.alloc(500, 'x'));
  expect(next).toMatchObject({
    kind: 'message',
    body: Uint8Array.from(Buffer.from('first')),
    bytes: Uint8Array.from(first),
  });
});

test('what is read makes room, and what is not read is the rest', () => {
  const reader = new MessageReader(10);
  const long = aMessage('D', Buffer.alloc(50));
  reader.add(Buffer.concat([aMessage('Z'), long.subarray(0, 20)]));
  expect(readAll(reader)).toEqual(['Z 0', 'D long']);
  reader.add(long.subarray(20, 30));
  reader.add(long.subarray(30, 31));
  expect(readAll(reader)).toEqual([]);
  reader.add(Buffer.concat([long.subarray(31), aMessage('C', Buffer.from('ab')), Buffer.from('Zx')]));
  expect(readAll(reader)).toEqual(['C 2']);
  expect(Buffer.from(reader.rest()).toString()).toBe('Zx');
  reader.putBack(aMessage('1'));
  expect(readAll(reader)).toEqual(['1 0']);
  expect(Buffer.from(reader.rest()).toString()).toBe('Zx');
});

test('a message that is too long ends within its chunk, and the next one is read', () => {
  const reader = new MessageReader(10);
  reader.add(Buffer.concat([aMessage('D', Buffer.alloc(11)), aMessage('Z')]));
  expect(reader.next()).toEqual({ kind: 'message', type: 'D', body: undefined, bytes: new Uint8Array(0) });
  expect(readAll(reader)).toEqual(['Z 0']);
});

test('messages that were read keep no memory', () => {
  const reader = new MessageReader(10);
  for (let at = 0; at < 1_000; at += 1) {
    reader.add(aMessage('D', Buffer.alloc(10)));
    expect(readAll(reader)).toEqual(['D 10']);
  }
  expect(reader.rest().buffer.byteLength).toBeLessThan(100);
});

test('the longest body that is read, and lengths that no message has', () => {
  const reader = new MessageReader(10);
  reader.add(Buffer.concat([aMessage('D', Buffer.alloc(10)), aMessage('D', Buffer.alloc(11))]));
  expect(readAll(reader)).toEqual(['D 10', 'D long']);
  for (const [length, read] of [
    [3, 'invalid'],
    [-1, 'invalid'],
    [0x4000_0003, 'D long'],
    [0x4000_0004, 'invalid'],
  ] as const) {
    const other = new MessageReader(10);
    other.add(Buffer.concat([Buffer.from('D'), aNumber(length)]));
    expect(readAll(other)).toEqual([read]);
  }
});

test('the bytes that no message has taken are overwritten, and gone', () => {
  const reader = new MessageReader(100);
  reader.add(Buffer.concat([aMessage('Z'), Buffer.from('Q\0\0\0\x20secret')]));
  expect(readAll(reader)).toEqual(['Z 0']);
  const rest = reader.rest();
  reader.clear();
  expect([Buffer.from(rest), reader.rest().length]).toEqual([Buffer.alloc(11), 0]);
  reader.add(aMessage('1'));
  expect(readAll(reader)).toEqual(['1 0']);
});
