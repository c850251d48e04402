// What one of several workers is given of the policy: rates are divided, so that together they keep them; bounds on numbers are whole,
// because each counts the others'. Nothing but what a worker needs is in it. Pure.
import type { WorkerPolicy } from './messages.ts';

export function shareOf(
  { pools, listeners, client, backend, hold, relay, probe, zone }: WorkerPolicy,
  processes: number,
): WorkerPolicy {
  return {
    pools,
    listeners,
    backend,
    relay,
    probe,
    zone,
    client: { ...client, maxDisconnectsPerSecond: client.maxDisconnectsPerSecond / processes },
    hold: { ...hold, maxConnectsPerSecond: hold.maxConnectsPerSecond / processes },
  };
}
