// Everybody passes while it is open; while it is shut everybody waits, and nobody is turned away.

export interface Gate {
  shut(): void;
  open(): void;
  /** Resolves while it is open. */
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
        // It may have been shut again in the same step.
        waiting = shut;
      }
    },
  };
}
