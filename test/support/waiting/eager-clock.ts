// A clock whose time passes as soon as a part waits for it: pauses of minutes take a turn of the event loop.
import type { Clock, Instant } from '../../../src/model/instant.ts';

export class EagerClock implements Clock {
  #now: Instant = 1000;
  /** In order. Milliseconds. */
  readonly pauses: number[] = [];

  now(): Instant {
    return this.#now;
  }

  schedule(delayMs: number, run: () => void): () => void {
    this.pauses.push(delayMs);
    const immediate = setImmediate(() => {
      this.#now += delayMs;
      run();
    });
    return () => clearImmediate(immediate);
  }
}
