// The real clock: monotonic time and Node's timers. Its instants mean the same in every process of this machine, to a
// few microseconds: `performance.now()` counts from the start of each process, and costs a fifth of `process.hrtime()`.
import type { Clock } from '../model/instant.ts';

/** The longest delay of one timer of Node. A longer one fires at once. Milliseconds. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** `hrtime`: `process.hrtime`. */
export function createSystemClock(hrtime: () => [seconds: number, nanoseconds: number]): Clock {
  const began = beginningOf(hrtime);
  return {
    now: () => began + performance.now(),
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

/** The process may be interrupted between two looks: those that lie closest together count. */
const LOOKS = 5;

/** When `performance.now()` was 0, on the clock of the machine. */
function beginningOf(hrtime: () => [seconds: number, nanoseconds: number]): number {
  let began = 0;
  let closest = Infinity;
  for (let look = 0; look < LOOKS; look += 1) {
    const before = performance.now();
    const [seconds, nanoseconds] = hrtime();
    const apart = performance.now() - before;
    if (apart >= closest) continue;
    closest = apart;
    began = seconds * 1000 + nanoseconds / 1e6 - (before + apart / 2);
  }
  return began;
}
