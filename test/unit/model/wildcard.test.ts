import { assert, constantFrom, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { matchesWildcard } from '../../../src/model/wildcard.ts';

test('it matches what a regular expression does', () => {
  const texts = string({ unit: constantFrom('a', 'b', '*', '.', '\n'), maxLength: 8 });
  assert(
    property(texts, texts, (text, pattern) => {
      const parts = pattern.split('*').map((part) => part.replaceAll('.', String.raw`\.`));
      expect(matchesWildcard(text, pattern)).toBe(new RegExp(`^${parts.join('.*')}$`, 's').test(text));
    }),
    { numRuns: 5_000 },
  );
});

test('many stars and a long name: no time passes', () => {
  const startedAt = performance.now();
  expect(matchesWildcard('_'.repeat(100_000), `${'*_'.repeat(50)}*ro`)).toBe(false);
  // The expression would take years.
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
