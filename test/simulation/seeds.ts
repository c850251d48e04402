// The seeds of the normal run, in parts: each of them is one test file, so that all lanes have work.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { KNOWN_SEEDS } from './known-seeds.ts';
import { rounds } from '../support/runner/ci.ts';
import { runSeed } from './run-seed.ts';
import { SeedPlayer } from './seed-player.ts';
import { shrink } from './shrink.ts';
import { storyOf } from './story.ts';
import { SEEDS } from './simulate-seeds.ts';
import { SITUATION_NAMES } from './situations.ts';

const PARTS = 4;
/** The seeds of one test: its time limit fits a busy machine, too. */
const GROUP = 10;
/** A short run reaches most of them. */
const LEAST_SITUATIONS = rounds(100, SITUATION_NAMES.length);

declare module 'vitest' {
  interface ProvidedContext {
    /** Has a file for each part of this run that is over, with the situations that it has reached. */
    readonly situationsFolder: string;
  }
}

/**
 * Registers the tests of one part of the seeds. `laws`: the beginning of their titles. The last part to end judges
 * which situations no part has reached.
 */
export function judgePart(part: 0 | 1 | 2 | 3, laws: string): void {
  const reached = new Set<string>();
  const player = new SeedPlayer();
  afterAll(() => player.close());
  it.each(groupsOf(part))(
    `${laws}: seeds $first to $last`,
    async ({ seeds }) => {
      for (const seed of seeds) {
        const { situations, broken, hasEndedProcess } = await player.play(seed);
        for (const name of situations) reached.add(name);
        if (broken.length === 0) continue;
        if (hasEndedProcess) expect.fail(`seed ${seed}: ${broken.join()}; npm run simulate -- --seed ${seed}`);
        expect.fail(storyOf(seed, await shrink(await runSeed(seed))));
      }
    },
    120_000,
  );

  it('the seeds of all parts reach every situation', () => {
    const folder = inject('situationsFolder');
    const file = join(folder, `part-${part}`);
    // All at once: another part may read it now.
    writeFileSync(`${file}.new`, [...reached].join('\n'));
    renameSync(`${file}.new`, `${file}.txt`);
    const over = readdirSync(folder).filter((name) => name.endsWith('.txt'));
    if (over.length < PARTS) return;
    const all = new Set(over.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n')));
    const missed = SITUATION_NAMES.filter((name) => !all.has(name));
    expect(all.size, `none of ${SEEDS} seeds reaches: ${missed.join(', ')}`).toBeGreaterThanOrEqual(LEAST_SITUATIONS);
  });
}

function groupsOf(part: number): readonly { first: number; last: number; seeds: readonly number[] }[] {
  const known = KNOWN_SEEDS.map(({ seed }) => seed).filter((seed) => seed > SEEDS);
  const all = [...Array.from({ length: SEEDS }, (_, index) => index + 1), ...known];
  const own = all.filter((seed) => seed % PARTS === part);
  return Array.from({ length: Math.ceil(own.length / GROUP) }, (_, index) => {
    const seeds = own.slice(index * GROUP, (index + 1) * GROUP);
    return { first: seeds[0] ?? 0, last: seeds.at(-1) ?? 0, seeds };
  });
}
