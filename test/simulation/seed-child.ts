// A child process of simulate-seeds.ts: runs each seed that it is sent, until its parent disconnects.
import process from 'node:process';
import { runSeed } from './run-seed.ts';
import type { SeedReport } from './simulate-seeds.ts';

process.on('message', (seed: number) => {
  void (async () => {
    const { broken, situations } = await runSeed(seed);
    process.send?.({ seed, broken, situations: [...situations] } satisfies SeedReport);
  })();
});
// The parent says when it is over.
process.on('SIGINT', () => {});
