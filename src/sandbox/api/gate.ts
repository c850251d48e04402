// A gate for requests: they pass while it is open and wait while it is shut. None is refused.

export interface Gate {
  shut(): void;
  open(): void;
  /** Resolves when the gate is open. */
  passed(): Promise<void>;
}

export function createGate(): Gate {
  let shut: PromiseWithResolvers<void> | undefined;
  return {
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
