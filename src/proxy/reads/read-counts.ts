// Counts the causal reads of a pool.
import {
  CAUSAL_READ_RESULTS,
  READ_WAIT_BOUNDS_MS,
  type CausalReadCounts,
  type CausalReadResult,
} from '../../reports/causal-reads.ts';

export class ReadCounts {
  readonly #results = new Map<CausalReadResult, number>(CAUSAL_READ_RESULTS.map((result) => [result, 0]));
  readonly #waits: number[] = [...READ_WAIT_BOUNDS_MS, Infinity].map(() => 0);
  #waitedMs = 0;
  #waiting = 0;

  begins(): void {
    this.#waiting += 1;
  }

  /** Undefined: its session has left its server. */
  ends(result: CausalReadResult | undefined, waitedMs: number): void {
    this.#waiting -= 1;
    if (result === undefined) return;
    this.count(result);
    const found = READ_WAIT_BOUNDS_MS.findIndex((bound) => waitedMs <= bound);
    const at = found === -1 ? READ_WAIT_BOUNDS_MS.length : found;
    this.#waits[at] = (this.#waits[at] ?? 0) + 1;
    this.#waitedMs += waitedMs;
  }

  /** Of a read that did not wait. */
  count(result: CausalReadResult): void {
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
  }

  counts(): CausalReadCounts {
    return {
      results: [...this.#results.values()],
      waits: [...this.#waits],
      waitedMs: this.#waitedMs,
      waiting: this.#waiting,
    };
  }
}
