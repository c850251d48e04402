// Waits for a condition that is read again with each piece of news, with a time limit. One wait at a time.
import type { Clock } from '../../model/instant.ts';

export class ChangeWaiter {
  readonly #clock: Clock;
  #onNews: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something happened: the wait reads its condition. */
  tell(): void {
    this.#onNews();
  }

  /** Resolves with the next piece of news, and after `limitMs` at the latest. */
  next(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.schedule(limitMs, () => this.#onNews());
      this.#onNews = () => {
        this.#onNews = () => {};
        cancel();
        resolve();
      };
    });
  }

  /** The first value that `read` returns. Undefined: the time is over. */
  async when<T>(limitMs: number, read: () => T | undefined): Promise<T | undefined> {
    const endsAt = this.#clock.now() + limitMs;
    for (;;) {
      const value = read();
      const leftMs = endsAt - this.#clock.now();
      if (value !== undefined || leftMs <= 0) return value;
      await this.next(leftMs);
    }
  }

  /** Undefined: it was rejected, the time is over, or `isOver`. A late result is ignored. */
  async settled<T>(promise: Promise<T>, limitMs: number, isOver = (): boolean => false): Promise<T | undefined> {
    let result: { readonly value: T | undefined } | undefined;
    const settle = (value?: T): void => {
      result = { value };
      this.tell();
    };
    void promise.then(settle, () => settle());
    await this.when(limitMs, () => (result !== undefined || isOver() ? true : undefined));
    return result?.value;
  }
}
