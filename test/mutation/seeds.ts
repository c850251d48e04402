// The last judge of a mutant of a room over sockets: histories of the simulation.
import { expect, it } from 'vitest';
import { runSeed } from '../simulation/run-seed.ts';

for (let seed = 1; seed <= Number(process.env['MUTANTS_SEEDS']); seed += 1) {
  it(`every law holds in the history of seed ${seed}`, async () => {
    const { broken } = await runSeed(seed);
    expect(broken).toEqual([]);
  });
}
