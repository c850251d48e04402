// The real clock, which a test can put forward: a limit is over at once, and not while the machine is slow.
import type { Clock, Instant } from '../../../src/model/instant.ts';
import { systemClock } from './system-clock.ts';

interface Timer {
  readonly at: Instant;
  readonly run: () => void;
  cancel: () => void;
}

export class LeapingClock implements Clock {
  #leaptMs = 0;
  readonly #timers = new Set<Timer>();

  now(): Instant {
    return systemClock.now() + this.#leaptMs;
  }

  schedule(delayMs: number, run: () => void): () => void {
    const timer: Timer = { at: this.now() + delayMs, run, cancel: () => {} };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => this.#end(timer);
  }

  /** A timer that falls due runs in one of the next turns of the event loop. */
  leap(ms: number): void {
    this.#leaptMs += ms;
    for (const timer of this.#timers) this.#arm(timer);
  }

  #arm(timer: Timer): void {
    timer.cancel();
    timer.cancel = systemClock.schedule(Math.max(0, timer.at - this.now()), () => {
      this.#end(timer);
      timer.run();
    });
  }

  #end(timer: Timer): void {
    timer.cancel();
    this.#timers.delete(timer);
  }
}
