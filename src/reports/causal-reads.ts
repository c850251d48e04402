// The fates of causal reads, in numbers since the start. Pure.
import { sumOf } from '../model/sums.ts';

/**
 * `free`: nothing was asked. `at_once`: the first answers were enough. `waited`: for its server to replay. The others
 * were late, or given up: `moved`, `error`, `stale`, `cancelled` by the client.
 */
export const CAUSAL_READ_RESULTS = ['free', 'at_once', 'waited', 'moved', 'error', 'stale', 'cancelled'] as const;
export type CausalReadResult = (typeof CAUSAL_READ_RESULTS)[number];

/** The reads of one pool. */
export interface CausalReadCounts {
  readonly results: Readonly<Record<CausalReadResult, number>>;
  /** The sum of all waits that are over. */
  readonly waitedMs: number;
  /** Now. */
  readonly waiting: number;
}

export function sumOfReads(all: readonly CausalReadCounts[]): CausalReadCounts {
  const of = (result: CausalReadResult): number => sumOf(all, ({ results }) => results[result]);
  return {
    results: {
      free: of('free'),
      at_once: of('at_once'),
      waited: of('waited'),
      moved: of('moved'),
      error: of('error'),
      stale: of('stale'),
      cancelled: of('cancelled'),
    },
    waitedMs: sumOf(all, ({ waitedMs }) => waitedMs),
    waiting: sumOf(all, ({ waiting }) => waiting),
  };
}
