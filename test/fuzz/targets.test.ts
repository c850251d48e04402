// Every target holds for its seeds, for what was found once, and for some mutations of both.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rounds } from '../support/runner/ci.ts';
import { corpusOf } from './corpus.ts';
import { mutated } from './mutation.ts';
import { Chance } from './target.ts';
import { TARGETS } from './targets.ts';

/** A reader takes far less for its longest input. Milliseconds. */
const MOST_MS = 5_000;

describe.each(TARGETS)('$name', ({ name, seeds, words, longest = 4_096, costs = 1, check }) => {
  const kept = corpusOf(name).map(({ bytes }) => bytes);
  const pool = [...seeds, ...kept];
  const sources = { words: words.map((word) => Buffer.from(word, 'latin1')), others: pool, longest };

  test('seeds, and inputs that were found once', async () => {
    for (const input of pool) {
      const from = performance.now();
      await check(input);
      expect(performance.now() - from).toBeLessThan(MOST_MS);
    }
  });

  test('mutations of them', async () => {
    const inputs = fc
      .tuple(fc.constantFrom(...pool), fc.integer())
      .map(([input, seed]) => mutated(input, new Chance(seed), sources));
    const numRuns = Math.ceil(rounds(200, 2_000) / costs);
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        await check(input);
      }),
      { numRuns },
    );
  });
});
