import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { percentile, Waits } from '../../../src/incidents/waits.ts';

test('percentiles are exact to 2 %, in bounded memory', () => {
  const waits = fc.array(fc.double({ min: 10, max: 3_600_000, noNaN: true }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(waits, fc.constantFrom(0.5, 0.9, 0.99, 1), (all, part) => {
      const exact = all.toSorted((a, b) => a - b)[Math.ceil(all.length * part) - 1] ?? 0;
      const known = percentile(new Waits(all).list(), part);
      expect(Math.abs(known - exact)).toBeLessThanOrEqual(exact * 0.0205 + 0.5);
    }),
  );
  const many = new Waits(Array.from({ length: 100_000 }, (_, index) => index * 36));
  expect(many.list().length).toBeLessThan(400);
  expect(many.longestMs()).toBe(99_999 * 36);
});
