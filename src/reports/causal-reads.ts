// The fates of causal reads, in numbers. Pure.
import type { MemberName } from '../model/member.ts';
import { mostOf, sumOf } from '../model/sums.ts';
import { sumOfMaps } from './tally.ts';

/** The fates of a read that was late. */
export const LATE_RESULTS = ['moved', 'error', 'stale'] as const;
export type LateResult = (typeof LATE_RESULTS)[number];

/**
 * `free`: nothing was asked. `at_once`: the first answers were enough. `waited`: for its server to replay. The others
 * were late, or given up: `moved`, `error`, `stale`, `cancelled` by the client.
 */
export const CAUSAL_READ_RESULTS = ['free', 'at_once', 'waited', ...LATE_RESULTS, 'cancelled'] as const;
export type CausalReadResult = (typeof CAUSAL_READ_RESULTS)[number];

export type ReadResults = Readonly<Record<CausalReadResult, number>>;

export const NO_RESULTS: ReadResults = {
  free: 0,
  at_once: 0,
  waited: 0,
  moved: 0,
  error: 0,
  stale: 0,
  cancelled: 0,
};

/** Waits are counted up to each of these, and beyond the last. Milliseconds. */
export const READ_WAIT_BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000] as const;

/** The reads of one pool. Totals are since the start. */
export interface CausalReadCounts {
  readonly results: ReadResults;
  /** The sum of all waits that are over. */
  readonly waitedMs: number;
  /** These waits by their length: one number for each bound, and one for those beyond. */
  readonly waits: readonly number[];
  /** Now. */
  readonly waiting: number;
  readonly lastMinute: ReadsOfMinute;
}

/** Reads that ended within the last minute. */
export interface ReadsOfMinute {
  readonly results: ReadResults;
  readonly waitedMs: number;
  readonly longestMs: number;
  /** Late reads by the member that was late. Absent: none. */
  readonly lateOn: ReadonlyMap<MemberName, number>;
}

export const NO_READS: ReadsOfMinute = { results: NO_RESULTS, waitedMs: 0, longestMs: 0, lateOn: new Map() };

export function isLateResult(result: CausalReadResult | undefined): result is LateResult {
  return result === 'moved' || result === 'error' || result === 'stale';
}

export function lateIn(results: ReadResults): number {
  return sumOf(LATE_RESULTS, (result) => results[result]);
}

export function sumOfReads(all: readonly CausalReadCounts[]): CausalReadCounts {
  return {
    results: sumOfResults(all),
    waitedMs: sumOf(all, ({ waitedMs }) => waitedMs),
    waits: [...READ_WAIT_BOUNDS_MS, Infinity].map((_, index) => sumOf(all, ({ waits }) => waits[index] ?? 0)),
    waiting: sumOf(all, ({ waiting }) => waiting),
    lastMinute: sumOfMinutes(all.map(({ lastMinute }) => lastMinute)),
  };
}

export function sumOfMinutes(all: readonly ReadsOfMinute[]): ReadsOfMinute {
  return {
    results: sumOfResults(all),
    waitedMs: sumOf(all, ({ waitedMs }) => waitedMs),
    longestMs: mostOf(all, ({ longestMs }) => longestMs),
    lateOn: sumOfMaps(all.map(({ lateOn }) => lateOn)),
  };
}

function sumOfResults(all: readonly { readonly results: ReadResults }[]): ReadResults {
  const of = (result: CausalReadResult): number => sumOf(all, ({ results }) => results[result]);
  return {
    free: of('free'),
    at_once: of('at_once'),
    waited: of('waited'),
    moved: of('moved'),
    error: of('error'),
    stale: of('stale'),
    cancelled: of('cancelled'),
  };
}
