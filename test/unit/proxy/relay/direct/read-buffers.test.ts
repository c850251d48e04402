import { expect, test } from 'vitest';
import { readBuffers } from '../../../../../src/proxy/relay/direct/read-buffers.ts';
import { freeReadBuffers } from '../../../../support/sockets/free-read-buffers.ts';

test('a returned buffer is lent again, a forgotten one never', () => {
  const [kept, forgotten] = [readBuffers.large(), readBuffers.large()];
  readBuffers.forget(forgotten);
  readBuffers.giveBack(kept);
  const next = readBuffers.large();
  expect(next).toBe(kept);
  const other = readBuffers.large();
  expect(other).not.toBe(forgotten);
  for (const buffer of [next, other]) readBuffers.giveBack(buffer);
});

test('a socket that fills a small buffer gets a large one, and keeps it during long reads', () => {
  const free = freeReadBuffers();
  const small = readBuffers.small();
  expect(readBuffers.next(small, small.bytes.length - 1)).toBe(small);
  const large = readBuffers.next(small, small.bytes.length);
  expect(large.isLarge).toBe(true);
  expect(readBuffers.next(large, small.bytes.length + 1)).toBe(large);
  const after = readBuffers.next(large, small.bytes.length);
  expect(after.isLarge).toBe(false);
  readBuffers.giveBack(after);
  expect(freeReadBuffers()).toBe(free);
});

test('a view covers the bytes of the read', () => {
  const buffer = readBuffers.small();
  buffer.bytes.set(Buffer.from('hello'));
  expect(Buffer.from(buffer.filled(5)).toString()).toBe('hello');
  expect(Buffer.from(buffer.filled(2)).toString()).toBe('he');
  readBuffers.giveBack(buffer);
});

test('dropped buffers are not lent again', () => {
  const [small, large] = [readBuffers.small(), readBuffers.large()];
  for (const buffer of [small, large]) readBuffers.giveBack(buffer);
  readBuffers.drop();
  const next = [readBuffers.small(), readBuffers.large()];
  expect(next).not.toContain(small);
  expect(next).not.toContain(large);
  for (const buffer of next) readBuffers.giveBack(buffer);
});
