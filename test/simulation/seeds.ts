// The seeds of the normal run, in halves: each of them is one test file, so that both cores have work.
import { expect } from 'vitest';
import { KNOWN_SEEDS } from './known-seeds.ts';
import { runSeed } from './run-seed.ts';
import { shrink, storyOf } from './shrink.ts';
import { SITUATION_NAMES } from './situations.ts';

/** In each half. More follow while a situation is not reached. */
const SEEDS = 100;
const MOST_SEEDS = 400;

/** Every law holds in each history of this half, and each situation is reached in it. */
export async function judgeHalf(half: 0 | 1): Promise<void> {
  const known = KNOWN_SEEDS.map(({ seed }) => seed).filter((seed) => seed % 2 === half);
  const missing = new Set(SITUATION_NAMES);
  for (let count = 0; count < SEEDS || (missing.size > 0 && count < MOST_SEEDS); count += 1) {
    const outcome = await runSeed(known[count] ?? 2 * (count + 1) + half);
    for (const name of outcome.situations) missing.delete(name);
    if (outcome.broken.length > 0) expect.fail(storyOf(await shrink(outcome)));
  }
  expect([...missing]).toEqual([]);
}
