// What became of causal reads, in numbers since the start. Pure.

/**
 * `free`: nothing was asked. `at_once`: the first answers were enough. `waited`: for its server to replay. The others
 * were late, or given up: `moved`, `error`, `stale`, `cancelled` by the client.
 */
export const CAUSAL_READ_RESULTS = ['free', 'at_once', 'waited', 'moved', 'error', 'stale', 'cancelled'] as const;
export type CausalReadResult = (typeof CAUSAL_READ_RESULTS)[number];

/** The upper bounds of the waits that are counted together. Milliseconds. */
export const READ_WAIT_BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000] as const;

/** Of one pool. */
export interface CausalReadCounts {
  /** In the order of CAUSAL_READ_RESULTS. */
  readonly results: readonly number[];
  /** Reads whose wait is over, by READ_WAIT_BOUNDS_MS, and behind these the longer ones. */
  readonly waits: readonly number[];
  readonly waitedMs: number;
  /** Now. */
  readonly waiting: number;
}

export function sumOfReads(all: readonly CausalReadCounts[]): CausalReadCounts {
  const sum = (list: (one: CausalReadCounts) => readonly number[]): readonly number[] =>
    (all[0] === undefined ? [] : list(all[0])).map((_, index) =>
      all.reduce((n, one) => n + (list(one)[index] ?? 0), 0),
    );
  return {
    results: sum(({ results }) => results),
    waits: sum(({ waits }) => waits),
    waitedMs: all.reduce((total, { waitedMs }) => total + waitedMs, 0),
    waiting: all.reduce((total, { waiting }) => total + waiting, 0),
  };
}
