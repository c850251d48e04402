// Runs many seeds, in one child process for each core.
import { fork, type ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { rounds } from '../support/runner/ci.ts';
import { withoutLine } from './broken/without-line.ts';

/** A minute for two cores. */
export const SEEDS_OF_CI = 500;
/** The normal run has the seeds from 1 to this one. */
export const SEEDS = rounds(80, SEEDS_OF_CI);

/** A history as a child reports it. */
export interface SeedReport {
  readonly seed: number;
  readonly broken: readonly string[];
  readonly situations: readonly string[];
}

export interface SeedsOptions {
  readonly from: number;
  readonly count: number;
  /** False: no further seed is wanted. */
  readonly onReport: (report: SeedReport) => boolean;
  readonly signal?: AbortSignal;
  /** The name of a load-bearing line that the program lacks. */
  readonly without?: string;
}

const CHILD = new URL('seed-child.ts', import.meta.url);

/** Resolves when every history is over, or none is wanted any more. Rejects when a child fails. */
export async function simulateSeeds({ from, count, onReport, signal, without }: SeedsOptions): Promise<void> {
  let next = from;
  let isWanted = true;
  /** Returns the next seed, which the child has now. */
  const hand = (child: ChildProcess): number | undefined => {
    if (next < from + count && isWanted && signal?.aborted !== true) {
      child.send(next);
      return (next += 1) - 1;
    }
    if (child.connected) child.disconnect();
    return undefined;
  };
  const serve = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const child = fork(CHILD, without === undefined ? {} : withoutLine(without));
    let seed = hand(child);
    child.on('message', (report: SeedReport) => {
      isWanted &&= onReport(report);
      seed = hand(child);
    });
    child.on('exit', (code) => {
      if (code === 0 || signal?.aborted === true) resolve();
      else reject(new Error(`seed ${seed} ended its process with code ${code}`));
    });
    signal?.addEventListener('abort', () => void child.kill());
    return promise;
  };
  await Promise.all(Array.from({ length: Math.min(count, availableParallelism()) }, serve));
}
