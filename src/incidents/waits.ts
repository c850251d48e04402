// How long many clients waited, in little memory: counts of waits that differ by less than 4 %. Pure.
import { sumOf } from '../model/sums.ts';

/** Neighbouring values of the scale. A wait is at most half as far from its value: 2 %. */
const STEP = 1.04;

/** A wait in milliseconds, and the number of clients that waited so long. */
export interface Wait {
  readonly ms: number;
  readonly count: number;
}

export class Waits {
  readonly #counts = new Map<number, number>();
  #longestMs = 0;

  constructor(waits: readonly number[] = []) {
    for (const ms of waits) this.add(ms);
  }

  add(ms: number): void {
    const place = Math.round(Math.log(Math.max(1, ms)) / Math.log(STEP));
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
    this.#longestMs = Math.max(this.#longestMs, ms);
  }

  longestMs(): number {
    return this.#longestMs;
  }

  /** The shortest first. */
  list(): readonly Wait[] {
    return [...this.#counts]
      .toSorted(([a], [b]) => a - b)
      .map(([place, count]) => ({ ms: Math.min(round(STEP ** place), this.#longestMs), count }));
  }
}

/** The wait that the share `part` of the clients did not exceed. 0 without clients. */
export function percentile(waits: readonly Wait[], part: number): number {
  const total = sumOf(waits, ({ count }) => count);
  let seen = 0;
  for (const { ms, count } of waits) {
    seen += count;
    if (seen >= total * part) return ms;
  }
  return waits.at(-1)?.ms ?? 0;
}

function round(ms: number): number {
  return ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms);
}
