// The clock of the managers and their store, where no test gives them another one.
import type { Clock } from '../../model/instant.ts';

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
