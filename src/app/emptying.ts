// The shutdown: the steps until no session is left, with a grace that a second order cuts short.
import type { Clock } from '../model/instant.ts';
import type { ShutdownPolicy } from '../model/policy.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';

/** Since the start. */
function closedSessions(proxy: Proxy): number {
  return [...proxy.counts().values()].reduce((sum, { closed }) => sum + closed, 0);
}

/** Resolves with the number of sessions that closed meanwhile. */
export async function whenEmpty(proxy: Proxy, policy: ShutdownPolicy, grace: Grace): Promise<number> {
  const before = closedSessions(proxy);
  await grace.wait(policy.graceMs);
  await proxy.stopAccepting();
  await proxy.whenEmpty(policy.waitMs);
  await proxy.drain(policy.drainTimeoutMs);
  return closedSessions(proxy) - before;
}

/** A wait that `end` cuts short. */
export interface Grace {
  readonly wait: (ms: number) => Promise<void>;
  readonly end: () => void;
}

export function createGrace(clock: Clock): Grace {
  const ended = Promise.withResolvers<undefined>();
  return {
    wait: async (ms) => {
      const cancel = clock.schedule(ms, () => ended.resolve(undefined));
      await ended.promise;
      cancel();
    },
    end: () => ended.resolve(undefined),
  };
}
