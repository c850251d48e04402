// The real clock: monotonic time and Node's timers. The only implementation outside tests.
import type { Clock } from './core/instant.ts';

/** The longest delay a Node timer takes; longer ones would fire at once. Milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_DELAY_MS));
    return () => clearTimeout(timer);
  },
};
