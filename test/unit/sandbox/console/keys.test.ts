import { expect, test } from 'vitest';
import { actionOf, keysText } from '../../../../src/sandbox/console/keys.ts';

test('every key of the text has a meaning', () => {
  const lines = keysText().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  const keys = lines.flatMap((line) => line.slice(6).split(' · ')).map((part) => part.slice(0, 1));
  expect(keys.length).toBeGreaterThan(8);
  for (const key of keys) expect(actionOf(key), key).toBeDefined();
  expect(new Set(keys).size).toBe(keys.length);
});

test.each(['\u0003', '\u0004', 'q'])('%j ends the sandbox', (key) => {
  expect(actionOf(key)).toEqual({ kind: 'end' });
});

test('a key without a meaning', () => {
  expect(actionOf('z')).toBeUndefined();
});
