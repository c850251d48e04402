// The time of the managers and their store: it never goes back, and tests can drive it.

export interface ManagerClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Returns a function that cancels. */
  schedule(delayMs: number, run: () => void): () => void;
}

export const systemClock: ManagerClock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
