// The real clock: monotonic time and Node's timers. The only implementation outside tests. Its instants mean the same in every process
// of this machine: `performance.now()` would count from the start of each.
import { hrtime } from 'node:process';
import type { Clock } from '../model/instant.ts';

/** The longest delay a Node timer takes; longer ones would fire at once. Milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => {
    const [seconds, nanoseconds] = hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  schedule(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_DELAY_MS));
    return () => clearTimeout(timer);
  },
};
