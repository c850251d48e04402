// The reads of the last minute, in slices of five seconds: the oldest one leaves as a whole.
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { NO_RESULTS, sumOfMinutes } from '../../reports/causal-reads.ts';
import type { CausalReadResult, ReadsOfMinute } from '../../reports/causal-reads.ts';

interface Slice {
  readonly number: number;
  readonly results: Record<CausalReadResult, number>;
  waitedMs: number;
  longestMs: number;
  readonly lateOn: Map<MemberName, number>;
}

const SLICE_MS = 5_000;
const SLICES = 12;

export class LastMinute {
  /** The newest comes last. */
  readonly #slices: Slice[] = [];

  /** The slice to count in. */
  at(now: Instant): Slice {
    const number = Math.floor(now / SLICE_MS);
    const newest = this.#slices.at(-1);
    if (newest?.number === number) return newest;
    const slice = { number, results: { ...NO_RESULTS }, waitedMs: 0, longestMs: 0, lateOn: new Map() };
    this.#slices.push(slice);
    if (this.#slices.length > SLICES) this.#slices.shift();
    return slice;
  }

  sum(now: Instant): ReadsOfMinute {
    const oldest = Math.floor(now / SLICE_MS) - SLICES;
    return sumOfMinutes(this.#slices.filter(({ number }) => number > oldest));
  }
}
