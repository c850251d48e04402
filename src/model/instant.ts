// Time for the core: monotonic milliseconds, read once per event at the edge and passed down. Wall-clock time never
// enters a decision, so that its jumps change nothing.

/** Monotonic milliseconds since an arbitrary moment, the same one for all processes of a machine. */
export type Instant = number;

/** The shells' only source of time. Tests advance their own. */
export interface Clock {
  now(): Instant;
  /** Calls `run` once, `delayMs` from now. The returned function cancels the call and is idempotent. */
  schedule(delayMs: number, run: () => void): () => void;
}

/**
 * Calls `expired` after a deadline for something that a socket brings. After a stall timers run before sockets are
 * read, so what came in time is noticed before the deadline counts. Returns the cancel function.
 */
export function scheduleAfterReads(clock: Clock, delayMs: number, expired: () => void): () => void {
  let cancel = clock.schedule(delayMs, () => {
    cancel = clock.schedule(0, expired);
  });
  return () => cancel();
}

/**
 * Compares ages at one instant and remembers when an answer would change, so that the decision knows until when it
 * holds. A decision that compares ages in any other way is a bug.
 */
export interface Ages {
  readonly now: Instant;
  /** True while `now` is before `at + limitMs`. An undefined `at` is never young. */
  isYoung(at: Instant | undefined, limitMs: number): boolean;
  /** The first instant at which an answer given so far would differ. Infinity: none will. */
  validUntil(): Instant;
}

export function agesAt(now: Instant): Ages {
  let validUntil = Infinity;
  return {
    now,
    isYoung(at, limitMs) {
      if (at === undefined) return false;
      const end = at + limitMs;
      if (now >= end) return false;
      validUntil = Math.min(validUntil, end);
      return true;
    },
    validUntil: () => validUntil,
  };
}
