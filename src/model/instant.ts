// Time as the core sees it: monotonic milliseconds, taken once per event at the edge and passed down.
// Wall-clock time never enters a decision (a jump of it must change nothing).

/** Monotonic milliseconds since an arbitrary moment, which is the same for all processes of a machine. */
export type Instant = number;

/** The seam through which the shells take time; tests drive one by hand. */
export interface Clock {
  now(): Instant;
  /** Calls `run` once, `delayMs` from now; the returned function cancels it and is idempotent. */
  schedule(delayMs: number, run: () => void): () => void;
}

/**
 * Age questions asked at one instant. Every answer that would change later is remembered, so that the decision
 * made from the answers knows until when it holds. A decision that compares ages in any other way is a bug.
 */
export interface Ages {
  readonly now: Instant;
  /** True while `now` is before `at + limitMs`; an absent `at` is never young. */
  isYoung(at: Instant | undefined, limitMs: number): boolean;
  /** The first instant at which an answer given so far would differ; Infinity when none will. */
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
