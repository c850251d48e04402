// Attempts that are repeated until a deadline, with a growing pause: 0.5 s, doubled up to 10 s, and a part of it by
// chance, so that many jobs of CI do not come back together.
import type { Clock, Instant } from '../model/instant.ts';

export interface PauseOptions {
  readonly clock: Clock;
  /** A number below 1. */
  readonly random: () => number;
}

export interface AttemptOptions extends PauseOptions {
  /** Called before each pause, with the reason for the next attempt. */
  readonly onRetry: (why: string) => void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface Attempts {
  /** Pauses. False: the deadline has passed. The last attempt is at the deadline. */
  again(why: string): Promise<boolean>;
  /** The next pause is the first one again. */
  restart(): void;
}

export function attemptsUntil(deadline: Instant, { clock, random, onRetry }: AttemptOptions): Attempts {
  let pauseMs = FIRST_PAUSE_MS;
  return {
    async again(why) {
      const leftMs = deadline - clock.now();
      if (leftMs <= 0) return false;
      onRetry(why);
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.schedule(Math.min(leftMs, pauseMs * (0.75 + 0.25 * random())), resolve);
      await promise;
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
      return true;
    },
    restart: () => void (pauseMs = FIRST_PAUSE_MS),
  };
}
