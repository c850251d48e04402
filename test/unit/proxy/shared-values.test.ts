import { expect, test } from 'vitest';
import { SharedValues } from '../../../src/proxy/shared-values.ts';

test('equal keys have one value, different keys have their own', () => {
  const shared = new SharedValues<Uint8Array>();
  const first = Uint8Array.of(1);
  expect(shared.of('a', () => first)).toBe(first);
  expect(shared.of('a', () => expect.unreachable('it is remembered'))).toBe(first);
  const other = Uint8Array.of(2);
  expect(shared.of('b', () => other)).toBe(other);
});

test('ever new values do not fill the memory, and each caller has the right one', () => {
  const shared = new SharedValues<string[]>();
  const first = shared.of('first', () => []);
  for (let at = 0; at < 256; at += 1) expect(shared.of(`key ${at}`, () => [`value ${at}`])).toEqual([`value ${at}`]);
  expect(shared.of('first', () => [])).not.toBe(first);
});

test('a large value is not remembered', () => {
  const shared = new SharedValues<string[]>();
  for (const [key, isShared] of [
    ['x'.repeat(1_025), false],
    ['short', true],
  ] as const) {
    expect(shared.of(key, () => []) === shared.of(key, () => [])).toBe(isShared);
  }
});
