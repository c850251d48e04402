// A gate for requests: they pass while it is open and wait while it is shut. None is refused. It can be slow.
import { setTimeout as delay } from 'node:timers/promises';

export interface RequestGate {
  shut(): void;
  open(): void;
  /** Each request takes this much longer from now on. */
  slow(ms: number): void;
  /** Resolves when the request has taken as long as it has to. */
  delayed(): Promise<void>;
  /** Resolves when the gate is open. */
  passed(): Promise<void>;
}

export function createGate(): RequestGate {
  let shut: PromiseWithResolvers<void> | undefined;
  let delayMs = 0;
  return {
    slow: (ms) => {
      delayMs = ms;
    },
    delayed: async () => {
      if (delayMs > 0) await delay(delayMs);
    },
    shut: () => {
      shut ??= Promise.withResolvers<void>();
    },
    open: () => {
      shut?.resolve();
      shut = undefined;
    },
    passed: async () => {
      let waiting = shut;
      while (waiting !== undefined) {
        await waiting.promise;
        // The gate may have been shut again before this continuation ran.
        waiting = shut;
      }
    },
  };
}
