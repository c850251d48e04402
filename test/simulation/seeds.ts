// The seeds of the normal run, in halves: each of them is one test file, so that both cores have work.
import { expect } from 'vitest';
import { KNOWN_SEEDS } from './known-seeds.ts';
import { runSeed } from './run-seed.ts';
import { shrink, storyOf } from './shrink.ts';

/** In each half. */
const SEEDS = 40;
/** `npm run simulate` counts them all; a short run reaches most of them. */
const LEAST_SITUATIONS = 60;

/** Every law holds in each history of this half, and most situations are reached in it. */
export async function judgeHalf(half: 0 | 1): Promise<void> {
  const known = KNOWN_SEEDS.map(({ seed }) => seed).filter((seed) => seed % 2 === half);
  const reached = new Set<string>();
  for (let count = 0; count < SEEDS; count += 1) {
    const outcome = await runSeed(known[count] ?? 2 * (count + 1) + half);
    for (const name of outcome.situations) reached.add(name);
    if (outcome.broken.length > 0) expect.fail(storyOf(await shrink(outcome)));
  }
  expect(reached.size).toBeGreaterThanOrEqual(LEAST_SITUATIONS);
}
