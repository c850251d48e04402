// The lines of a watch, in chunks of any size.
import { array, assert, nat, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { LineReader } from '../../../src/kubernetes/lines.ts';

test('lines are the same in any pieces', () => {
  const line = string({ unit: 'grapheme', maxLength: 10 }).map((text) => `"${text.replaceAll(/\s/g, '')}`);
  assert(
    property(array(line, { maxLength: 6 }), array(nat(), { maxLength: 10 }), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((one) => `${one}\n`).join('\n'));
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
      const reader = new LineReader(1_000_000);
      const read = ends.flatMap((end, at) => [...reader.take(bytes.subarray(ends[at - 1] ?? 0, end))]);
      expect(read).toEqual(lines);
      expect(reader.isWithinLine()).toBe(false);
    }),
  );
});

test.each([
  ['a line above the limit', 1_001, 1],
  // Each chunk that is kept takes a hundred times its bytes.
  ['a line in tiny chunks', 1, 17],
])('%s is an error, and nothing more of it is kept', (_, size, count) => {
  const reader = new LineReader(1_000);
  const send = (): void => {
    for (let left = count; left > 0; left -= 1) for (const line of reader.take(Buffer.alloc(size, 'x'))) expect(line);
  };
  expect(send).toThrow(/more than (?:1000 bytes|15\.625 chunks)/);
});
