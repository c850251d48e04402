// The policy of one worker. Rates are divided by the number of workers. Limits on numbers are whole, because each
// worker counts what the other workers have. Holds only what a worker needs. Pure.
import type { WorkerPolicy } from './messages.ts';

export function divideRates(
  { pools, listeners, client, backend, hold, relay, branches, probe, zone }: WorkerPolicy,
  processes: number,
): WorkerPolicy {
  return {
    pools,
    listeners,
    backend,
    relay,
    branches: branches && { connect: branches.connect, backends: { caFile: branches.backends.caFile } },
    probe,
    zone,
    client: { ...client, maxDisconnectsPerSecond: client.maxDisconnectsPerSecond / processes },
    hold: { ...hold, maxConnectsPerSecond: hold.maxConnectsPerSecond / processes },
  };
}
