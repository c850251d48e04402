// Runs many seeds, in one child process for each core.
import { availableParallelism } from 'node:os';
import { rounds } from '../support/runner/ci.ts';
import { SeedPlayer, type SeedReport } from './seed-player.ts';

/** A minute for two cores. */
export const SEEDS_OF_CI = 500;
/** The normal run has the seeds from 1 to this one. */
export const SEEDS = rounds(80, SEEDS_OF_CI);

export interface SeedsOptions {
  readonly from: number;
  readonly count: number;
  /** False: no further seed is wanted. */
  readonly onReport: (report: SeedReport) => boolean;
  readonly signal?: AbortSignal;
  /** The name of a load-bearing line that the program lacks. */
  readonly without?: string;
}

/** Resolves when every history is over, or none is wanted any more. Rejects when the program cannot be loaded. */
export async function simulateSeeds({ from, count, onReport, signal, without }: SeedsOptions): Promise<void> {
  let next = from;
  let isWanted = true;
  const isAborted = (): boolean => signal?.aborted === true;
  const serve = async (): Promise<void> => {
    const player = new SeedPlayer(without);
    const end = (): void => void player.close();
    signal?.addEventListener('abort', end);
    try {
      while (next < from + count && isWanted && !isAborted()) {
        const report = await player.play((next += 1) - 1);
        if (!isAborted()) isWanted &&= onReport(report);
      }
    } finally {
      signal?.removeEventListener('abort', end);
      await player.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, availableParallelism()) }, serve));
}
