// Counts the causal reads of a pool.
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { NO_RESULTS, READ_WAIT_BOUNDS_MS } from '../../reports/causal-reads.ts';
import type { CausalReadCounts, CausalReadResult, LateResult } from '../../reports/causal-reads.ts';
import { LastMinute } from './last-minute.ts';
import type { LateEpisodes } from './late-episodes.ts';

export interface ReadCountsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly late: Pick<LateEpisodes, 'note'>;
}

/** A read whose server was late. */
export interface LateFate {
  readonly result: LateResult;
  readonly member: MemberName;
  /** A sentence. */
  readonly why: string;
}

export class ReadCounts {
  readonly #options: ReadCountsOptions;
  readonly #results = { ...NO_RESULTS };
  readonly #waits = [...READ_WAIT_BOUNDS_MS, Infinity].map(() => 0);
  readonly #lastMinute = new LastMinute();
  #waitedMs = 0;
  #waiting = 0;

  constructor(options: ReadCountsOptions) {
    this.#options = options;
  }

  begins(): void {
    this.#waiting += 1;
  }

  /** Undefined: its session has ended, or has moved for another reason. */
  ends(result: Exclude<CausalReadResult, LateResult> | undefined, waitedMs: number): void {
    this.#waiting -= 1;
    if (result !== undefined) this.#count(result, waitedMs);
  }

  endsLate({ result, member, why }: LateFate, waitedMs: number): void {
    this.#waiting -= 1;
    this.#count(result, waitedMs, member);
    this.#options.late.note(member, result, why);
  }

  /** A read did not wait. */
  isFree(): void {
    this.#results.free += 1;
    this.#lastMinute.at(this.#options.clock.now()).results.free += 1;
  }

  counts(): CausalReadCounts {
    return {
      results: { ...this.#results },
      waitedMs: this.#waitedMs,
      waits: [...this.#waits],
      waiting: this.#waiting,
      lastMinute: this.#lastMinute.sum(this.#options.clock.now()),
    };
  }

  #count(result: CausalReadResult, waitedMs: number, lateOn?: MemberName): void {
    const place = READ_WAIT_BOUNDS_MS.findIndex((bound) => waitedMs <= bound);
    const index = place === -1 ? READ_WAIT_BOUNDS_MS.length : place;
    this.#waits[index] = (this.#waits[index] ?? 0) + 1;
    this.#results[result] += 1;
    this.#waitedMs += waitedMs;
    const recent = this.#lastMinute.at(this.#options.clock.now());
    recent.results[result] += 1;
    recent.waitedMs += waitedMs;
    recent.longestMs = Math.max(recent.longestMs, waitedMs);
    if (lateOn !== undefined) recent.lateOn.set(lateOn, (recent.lateOn.get(lateOn) ?? 0) + 1);
  }
}
