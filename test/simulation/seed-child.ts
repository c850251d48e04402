// The process of a SeedPlayer: runs each seed that it is sent, until its parent is gone.
import process from 'node:process';
import { loadLate } from './pointsman/simulated-pointsman.ts';
import { runSeed } from './run-seed.ts';
import type { ChildMessage } from './seed-player.ts';

const tell = (message: ChildMessage): void => void process.send?.(message);

process.on('message', (seed: number) => {
  void (async () => {
    const { broken, situations, history } = await runSeed(seed);
    tell({ seed, broken, situations: [...situations], hash: history.hash() });
  })();
});
// The parent says when it is over.
process.on('SIGINT', () => {});
await loadLate();
tell('ready');
