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

test('all sockets share the small buffer, and a view of each length', () => {
  const buffer = readBuffers.small();
  expect(readBuffers.small()).toBe(buffer);
  buffer.bytes.set(Buffer.from('hello'));
  const views = [5, 2].map((length) => buffer.filled(length));
  expect(views.map((view) => Buffer.from(view).toString())).toEqual(['hello', 'he']);
  expect([5, 2].every((length, at) => buffer.filled(length) === views[at])).toBe(true);
  expect(views.map((view) => readBuffers.isShared(view))).toEqual([true, true]);
  expect(readBuffers.isShared(Buffer.from('hello'))).toBe(false);
});

test('a copy that waits is not overwritten by the next one', () => {
  const { bytes } = readBuffers.small();
  bytes.set(Buffer.from('one'));
  const waiting = readBuffers.out(bytes.subarray(0, 3));
  readBuffers.outWaits();
  bytes.set(Buffer.from('two'));
  const next = readBuffers.out(bytes.subarray(0, 3));
  expect([waiting, next].map((copy) => Buffer.from(copy).toString())).toEqual(['one', 'two']);
});

test('dropped buffers are not lent again', () => {
  const large = readBuffers.large();
  readBuffers.giveBack(large);
  readBuffers.drop();
  const next = readBuffers.large();
  expect(next).not.toBe(large);
  readBuffers.giveBack(next);
});
