// The real clock: monotonic time and Node's timers. Its instants mean the same in every process of this machine,
// whereas `performance.now()` counts from the start of each process.
import type { Clock } from '../model/instant.ts';

/** The longest delay of one timer of Node. A longer one fires at once. Milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** `hrtime`: `process.hrtime`. */
export function createSystemClock(hrtime: () => [seconds: number, nanoseconds: number]): Clock {
  return {
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
}
