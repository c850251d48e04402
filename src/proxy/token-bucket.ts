// A rate with a small burst. Time is an argument; holds no timer.
import type { Instant } from '../model/instant.ts';

export class TokenBucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #filledAt: Instant;

  /**
   * Full at first. By default the burst is a fiftieth of a second's worth, at least one: a new primary forks and authenticates for
   * each, and many at once are all served later than a few are. Never less than one: a whole token must fit in.
   */
  constructor(perSecond: number, now: Instant, burst = Math.max(1, Math.floor(perSecond / 50))) {
    this.#perMs = perSecond / 1000;
    this.#capacity = Math.max(1, burst);
    this.#tokens = this.#capacity;
    this.#filledAt = now;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(now: Instant): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    // Sums of fractions: without the allowance a token is due a hair after the timer that waits for it.
    if (this.#tokens < 1 - 1e-9) return (1 - this.#tokens) / this.#perMs;
    this.#tokens = Math.max(0, this.#tokens - 1);
    return 0;
  }
}
