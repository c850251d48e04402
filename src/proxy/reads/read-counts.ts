// Counts the causal reads of a pool.
import type { CausalReadCounts, CausalReadResult } from '../../reports/causal-reads.ts';

export class ReadCounts {
  readonly #results = { free: 0, at_once: 0, waited: 0, moved: 0, error: 0, stale: 0, cancelled: 0 };
  #waitedMs = 0;
  #waiting = 0;

  begins(): void {
    this.#waiting += 1;
  }

  /** Undefined: its session has ended, or has moved for another reason. */
  ends(result: CausalReadResult | undefined, waitedMs: number): void {
    this.#waiting -= 1;
    if (result === undefined) return;
    this.count(result);
    this.#waitedMs += waitedMs;
  }

  /** A read did not wait. */
  count(result: CausalReadResult): void {
    this.#results[result] += 1;
  }

  counts(): CausalReadCounts {
    return { results: { ...this.#results }, waitedMs: this.#waitedMs, waiting: this.#waiting };
  }
}
