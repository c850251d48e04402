// A deadline that knows whether this process was able to notice an answer: its time is counted in slices, and slices that
// end late mean that the event loop stood still (or the whole process did). Silence heard by the deaf is no silence.

const SLICE_MS = 50;

/** The event loop may be this late within one deadline before silence is put down to us. */
export const STALL_MS = 250;

export interface Deadline {
  /** How late the slices of this deadline ended, in all, up to now; milliseconds. */
  stalledMs(): number;
  hasExpired(): boolean;
  /** Idempotent; `expire` is not called after it. */
  cancel(): void;
}

/** Calls `expire` once, `afterMs` from now, unless cancelled. */
export function startDeadline(afterMs: number, expire: () => void): Deadline {
  const endsAt = performance.now() + afterMs;
  let due = 0;
  let lateMs = 0;
  let expired = false;
  let timer: NodeJS.Timeout | undefined;

  function next(): void {
    const now = performance.now();
    const delayMs = Math.min(SLICE_MS, Math.max(0, endsAt - now));
    due = now + delayMs;
    timer = setTimeout(slice, delayMs);
  }
  function slice(): void {
    lateMs += Math.max(0, performance.now() - due);
    if (performance.now() < endsAt) return next();
    expired = true;
    expire();
  }
  next();
  return {
    stalledMs: () => lateMs + Math.max(0, performance.now() - due),
    hasExpired: () => expired,
    cancel: () => clearTimeout(timer),
  };
}
