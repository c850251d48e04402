// Operations that exclude each other run one at a time: those that change the cluster.

export interface OperationLock {
  /** `what`: for the caller that comes too early. The result ends it, once; undefined: another operation runs. */
  readonly enter: (what: string) => (() => void) | undefined;
  /** Undefined: none. */
  readonly running: () => string | undefined;
}

export function createOperationLock(): OperationLock {
  let current: { readonly what: string } | undefined;
  return {
    enter(what) {
      if (current !== undefined) return undefined;
      const own = { what };
      current = own;
      return () => {
        if (current === own) current = undefined;
      };
    },
    running: () => current?.what,
  };
}
