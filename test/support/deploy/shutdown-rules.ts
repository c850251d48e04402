// How a pod's shutdown time is divided, from the one figure that an operator sets. The manifests state these rules. The
// tests compute them a second time here and hold every rendered manifest to the result.

interface ShutdownShares {
  readonly graceSeconds: number;
  readonly drainSeconds: number;
}

/** A Pointsman alone in its pod: what is not grace or margin is for the drain. */
export function standaloneShares(inAllSeconds: number): ShutdownShares {
  const graceSeconds = sixth(inAllSeconds);
  return { graceSeconds, drainSeconds: inAllSeconds - graceSeconds - marginSeconds(inAllSeconds) };
}

/** One beside an application, which has exited before and has the rest. */
export function sidecarShares(inAllSeconds: number): ShutdownShares {
  return { graceSeconds: 0, drainSeconds: sixth(inAllSeconds) };
}

/** Between the end of the drain and SIGKILL. */
export function marginSeconds(inAllSeconds: number): number {
  return Math.max(1, Math.min(10, Math.floor(inAllSeconds / 12)));
}

function sixth(inAllSeconds: number): number {
  return Math.min(10, Math.floor(inAllSeconds / 6));
}
