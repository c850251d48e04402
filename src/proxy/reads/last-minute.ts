// The reads of the last minute, in steps of five seconds: the oldest step leaves as a whole.
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { NO_RESULTS, sumOfMinutes } from '../../reports/causal-reads.ts';
import type { CausalReadResult, ReadsOfMinute } from '../../reports/causal-reads.ts';

interface Step {
  readonly number: number;
  readonly results: Record<CausalReadResult, number>;
  waitedMs: number;
  longestMs: number;
  readonly lateOn: Map<MemberName, number>;
}

const STEP_MS = 5_000;
const STEPS = 12;

export class LastMinute {
  /** The newest comes last. */
  readonly #steps: Step[] = [];

  /** The step to count in. */
  at(now: Instant): Step {
    const number = Math.floor(now / STEP_MS);
    const newest = this.#steps.at(-1);
    if (newest?.number === number) return newest;
    const step = { number, results: { ...NO_RESULTS }, waitedMs: 0, longestMs: 0, lateOn: new Map() };
    this.#steps.push(step);
    if (this.#steps.length > STEPS) this.#steps.shift();
    return step;
  }

  sum(now: Instant): ReadsOfMinute {
    const oldest = Math.floor(now / STEP_MS) - STEPS;
    return sumOfMinutes(this.#steps.filter(({ number }) => number > oldest));
  }
}
