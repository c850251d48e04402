// How long a client that has just logged in, or prepared, may take to send its statement before it is ended: a round
// trip to a distant region, or the pause of a busy client.
import type { Clock } from '../../model/instant.ts';
import type { Traffic } from '../../reports/counts.ts';

/** Milliseconds. */
const SETTLING_MS = 500;

export class SettlingTime {
  readonly #clock: Clock;
  readonly #traffic: Traffic;
  #from = -Infinity;
  /** How much the client had sent until then. */
  #bytes = 0;

  constructor(clock: Clock, traffic: Traffic) {
    this.#clock = clock;
    this.#traffic = traffic;
  }

  begins(): void {
    this.#from = this.#clock.now();
    this.#bytes = this.#traffic.toBackendBytes;
  }

  /** `hasPrepared`: what the client has sent since are no statements that run. */
  leftMs(hasPrepared: boolean): number {
    if (this.#traffic.toBackendBytes !== this.#bytes) {
      if (!hasPrepared) return 0;
      this.begins();
    }
    return Math.max(0, this.#from + SETTLING_MS - this.#clock.now());
  }
}
