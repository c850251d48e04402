// One program on a simulated machine: its timers stand still while it is stopped (SIGSTOP), those that were due run
// when it goes on, and none runs after its end.
import type { Clock } from '../../../src/model/instant.ts';

export class Program {
  readonly #clock: Clock;
  #isStopped = false;
  #isOver = false;
  readonly #due: (() => void)[] = [];
  readonly #onStop: ((isStopped: boolean) => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  isOver(): boolean {
    return this.#isOver;
  }

  isStopped(): boolean {
    return this.#isStopped;
  }

  /** Returns the cancel. */
  schedule(delayMs: number, run: () => void): () => void {
    let isCanceled = false;
    const cancel = this.#clock.schedule(delayMs, () => {
      this.run(() => {
        if (!isCanceled) run();
      });
    });
    return () => {
      isCanceled = true;
      cancel();
    };
  }

  /** Now, or when the program goes on. */
  run(run: () => void): void {
    if (this.#isOver) return;
    if (this.#isStopped) this.#due.push(run);
    else run();
  }

  /** Resolves when the program runs, and never after its end. */
  turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.run(resolve);
    return promise;
  }

  /** Resolves after this time of the program's life, and never after its end. */
  pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.schedule(ms, resolve);
    return promise;
  }

  /** Tells when the program is stopped, and when it goes on. */
  onStop(tell: (isStopped: boolean) => void): void {
    this.#onStop.push(tell);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const tell of this.#onStop) tell(true);
  }

  goOn(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    for (const tell of this.#onStop) tell(false);
    while (this.#due.length > 0 && !this.isStopped() && !this.#isOver) this.#due.shift()?.();
  }

  end(): void {
    this.#isOver = true;
    this.#due.length = 0;
  }
}
