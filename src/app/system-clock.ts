// The real clock: monotonic time and Node's timers. The only implementation outside tests. Its instants mean the same in every process
// of this machine: `performance.now()` would count from the start of each.
import { hrtime } from 'node:process';
import type { Clock } from '../model/instant.ts';

/** The longest delay that one timer of Node takes: it would fire at once on a longer one. Milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => {
    const [seconds, nanoseconds] = hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  schedule(delayMs, run) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const isLast = leftMs <= LONGEST_DELAY_MS;
      timer = isLast ? setTimeout(run, leftMs) : setTimeout(wait, LONGEST_DELAY_MS, leftMs - LONGEST_DELAY_MS);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};
