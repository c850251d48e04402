// Bytes that wait.
import { expect, test } from 'vitest';
import { GrowingBuffer } from '../../../../src/wire/messages/growing-buffer.ts';

test('bytes one by one: all of them, in few pieces of memory', () => {
  const buffer = new GrowingBuffer();
  const pieces = new Set<ArrayBufferLike>();
  for (let at = 0; at < 10_000; at += 1) {
    buffer.append(Uint8Array.of(at));
    pieces.add(buffer.bytes().buffer);
  }
  expect(buffer.length()).toBe(10_000);
  expect(Buffer.from(buffer.bytes())).toEqual(Buffer.from(Uint8Array.from({ length: 10_000 }, (_, at) => at)));
  expect(pieces.size).toBeLessThan(20);
});

test('what was taken stays as it was after the end of it', () => {
  const buffer = new GrowingBuffer();
  buffer.append(Buffer.from('first'));
  const taken = buffer.bytes();
  buffer.clear();
  expect([buffer.length(), buffer.bytes().length]).toEqual([0, 0]);
  buffer.append(Buffer.from('other'));
  expect([Buffer.from(taken).toString(), Buffer.from(buffer.bytes()).toString()]).toEqual(['first', 'other']);
});
