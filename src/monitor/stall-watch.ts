// Notices that this process stood still: stopped by a signal, on a paused machine, or with a blocked event loop. A late
// timer shows the stall; a call of look() may show it earlier.
import type { Clock, Instant } from '../model/instant.ts';

export interface StallWatchOptions {
  readonly clock: Clock;
  /** A longer stall is reported. Read at each beat. Milliseconds. */
  readonly limitMs: () => number;
  /** Called when the stall is over. Must not throw. */
  readonly onStall: (noticedAt: Instant) => void;
}

/** Beats within the limit. A stall of three quarters of the limit may be reported too. */
const BEATS = 4;
/** A shorter stall is normal: a garbage collection, a busy machine. Milliseconds. */
const MIN_LIMIT_MS = 250;

export class StallWatch {
  readonly #options: StallWatchOptions;
  /** No stall is possible before this instant. */
  #dueAt: Instant = Infinity;
  #cancelBeat: () => void = () => {};

  constructor(options: StallWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#beat(this.#options.clock.now());
  }

  stop(): void {
    this.#dueAt = Infinity;
    this.#cancelBeat();
  }

  /** There is a stall that is not reported yet. Cheap enough for every read of a client's bytes. */
  isNoticed(now: Instant): boolean {
    return now >= this.#dueAt;
  }

  look(now: Instant): void {
    if (this.isNoticed(now)) this.#noticed(now);
  }

  #noticed(now: Instant): void {
    this.#beat(now);
    this.#options.onStall(now);
  }

  #beat(now: Instant): void {
    const { clock, limitMs } = this.#options;
    const limit = Math.max(limitMs(), MIN_LIMIT_MS);
    this.#dueAt = now + limit;
    this.#cancelBeat();
    this.#cancelBeat = clock.schedule(limit / BEATS, () => {
      const at = clock.now();
      if (at >= this.#dueAt) this.#noticed(at);
      else this.#beat(at);
    });
  }
}
