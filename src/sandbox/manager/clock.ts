// Time as the managers and their store know it: never goes back, and can be driven by hand.

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Returns how to cancel. */
  schedule(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
