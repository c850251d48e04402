// A deadline that knows whether this process could have noticed an answer. It counts its time in slices. A slice that
// ends late means that the event loop, or the whole process, stood still: then a missing answer is no evidence of
// silence.

const SLICE_MS = 50;

/** With a total delay above this within one deadline, a missing answer is our own fault. Milliseconds. */
export const STALL_MS = 250;

export interface Deadline {
  /** Total delay of this deadline's slices so far. Milliseconds. */
  stalledMs(): number;
  /** Idempotent. `expire` is not called afterwards. */
  cancel(): void;
}

/** Calls `expire` once after `afterMs`, unless cancelled. */
export function startDeadline(afterMs: number, expire: () => void): Deadline {
  const endsAt = performance.now() + afterMs;
  let due = 0;
  let lateMs = 0;
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
    expire();
  }
  next();
  return {
    stalledMs: () => lateMs + Math.max(0, performance.now() - due),
    cancel: () => clearTimeout(timer),
  };
}
