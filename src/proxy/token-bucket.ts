// A rate with a small burst. Time is an argument; there is no timer.
import type { Instant } from '../model/instant.ts';

export class TokenBucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #filledAt: Instant;

  /**
   * Full at first. By default the burst is the tokens of 20 ms, at least one: a new primary forks and authenticates for
   * each connection, and serves all of a large burst later than a small one. A burst is never below one, or no token
   * would fit.
   */
  constructor(perSecond: number, now: Instant, burst = Math.max(1, Math.floor(perSecond / 50))) {
    this.#perMs = perSecond / 1000;
    this.#capacity = Math.max(1, burst);
    this.#tokens = this.#capacity;
    this.#filledAt = now;
  }

  /** Takes a token and returns 0, or returns the milliseconds until the next token. */
  take(now: Instant): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    // Rounding: without the allowance a token could come due just after the timer that waits for it.
    if (this.#tokens < 1 - 1e-9) return (1 - this.#tokens) / this.#perMs;
    this.#tokens = Math.max(0, this.#tokens - 1);
    return 0;
  }

  /** A token that was taken was not needed. */
  returnToken(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + 1);
  }
}
