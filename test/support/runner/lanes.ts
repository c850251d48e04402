// How many test files run at a time.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * A Node process starts within 40 ms on the machines that three lanes suit, and takes 100 ms in a guest where new
 * processes are dear. There three lanes fill two cores, and limits of real time are missed. Milliseconds.
 */
const SLOW_START_MS = 70;
const TRIES = 3;

/**
 * For tests that wait most of the time, for servers and for clocks: a file takes half a core. With four files, two
 * cores are so full that limits of real time are missed.
 */
export function lanes(): number {
  const cores = availableParallelism();
  return cores > 2 || leastStartMs() <= SLOW_START_MS ? Math.max(3, cores) : 2;
}

/** Other work makes a start take longer: the least of some counts. */
function leastStartMs(): number {
  const durations = Array.from({ length: TRIES }, () => {
    const startedAt = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - startedAt;
  });
  return Math.min(...durations);
}
