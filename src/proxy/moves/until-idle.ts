// Work on a session that waits until the session is between two transactions, or until the time for that is over.
import type { Clock } from '../../model/instant.ts';
import type { MovingHost } from './moving-host.ts';

export class UntilIdle {
  readonly #host: Pick<MovingHost, 'onIdle'>;
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(host: Pick<MovingHost, 'onIdle'>, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  add(limitMs: number, run: () => void): void {
    const go = (): void => {
      cancel();
      run();
    };
    const stopListening = this.#host.onIdle(go);
    const cancelLimit = this.#clock.schedule(limitMs, go);
    const cancel = (): void => {
      this.#waiting.delete(go);
      stopListening();
      cancelLimit();
    };
    this.#waiting.add(go);
  }

  /** The session is over, so nothing waits any longer. */
  runAll(): void {
    for (const go of this.#waiting) go();
  }
}
