// Attempts that are repeated until a deadline, with a growing pause: 0.5 s, doubled up to 10 s, and a part of it by
// chance, so that many jobs of CI do not come back together.
import { ApiError } from '../http/request.ts';
import type { Clock } from '../model/instant.ts';

export interface PauseOptions {
  readonly clock: Clock;
  /** A number below 1. */
  readonly random: () => number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface Attempts {
  /** Pauses. False: the deadline has passed. The last attempt is at the deadline. */
  again(why: string): Promise<boolean>;
  /** The next pause is the first one again. */
  restart(): void;
  /** Until the deadline. Milliseconds. */
  leftMs(): number;
}

/** `onRetry`: called before each pause, with the reason for the next attempt. */
export function attemptsFor(
  waitMs: number,
  { clock, random }: PauseOptions,
  onRetry: (why: string) => void = () => {},
): Attempts {
  const deadline = clock.now() + waitMs;
  const leftMs = (): number => deadline - clock.now();
  let pauseMs = FIRST_PAUSE_MS;
  return {
    leftMs,
    async again(why) {
      if (leftMs() <= 0) return false;
      onRetry(why);
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.schedule(Math.min(leftMs(), pauseMs * (0.75 + 0.25 * random())), resolve);
      await promise;
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
      return true;
    },
    restart: () => void (pauseMs = FIRST_PAUSE_MS),
  };
}

/** Repeats a GET while it may still succeed. Rejects with its last error. */
export async function untilRead<T>(attempts: Attempts, read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || !isPassing(error)) throw error;
      if (!(await attempts.again(error.message))) throw error;
    }
  }
}

function isPassing({ failure, status }: ApiError): boolean {
  return ['timeout', 'unreachable', 'server_error'].includes(failure) || status === 429;
}
