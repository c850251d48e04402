// A clock driven by hand: time passes only in advance(), and what falls due runs in order, each at its own instant.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Instant } from '../../../src/model/instant.ts';

interface Timer {
  readonly at: Instant;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  #now: Instant;
  readonly #timers = new Set<Timer>();

  constructor(start: Instant = 1000) {
    this.#now = start;
  }

  now(): Instant {
    return this.#now;
  }

  schedule(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers not yet due or cancelled: a test of "leaves nothing behind" expects 0. */
  pending(): number {
    return this.#timers.size;
  }

  /** Lets `ms` pass; promises that a timer's work settles are followed before the next timer runs. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let timer = this.#nextBefore(end); timer !== undefined; timer = this.#nextBefore(end)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.at);
      timer.run();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Time passes and nothing that falls due runs yet, as when the event loop stands still. */
  stall(ms: number): void {
    this.#now += ms;
  }

  #nextBefore(end: Instant): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }
}

/** Every promise that could settle has after one turn of the event loop. Work in turns takes more on a busy machine. */
const TURNS = 3;

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}
