// Sessions whose listener or pool a reload took away: they end by themselves, and what is left at a deadline is ended, unless the
// operator has brought it back by then.
import type { Clock } from '../core/instant.ts';
import type { Registry, Seated } from './registry.ts';

export interface Vanished {
  /** `listener 127.0.0.1:6432`: names it in the log, and is the key under which it may vanish again. */
  readonly what: string;
  readonly isBack: () => boolean;
  readonly has: (session: Seated) => boolean;
}

export class Leftovers {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #deadlines = new Map<string, () => void>();

  constructor(registry: Registry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  drain(vanished: Vanished, deadlineMs: number): void {
    const { what } = vanished;
    this.#deadlines.get(what)?.();
    const cancel = this.#clock.schedule(deadlineMs, () => {
      this.#deadlines.delete(what);
      this.end(vanished);
    });
    this.#deadlines.set(what, cancel);
  }

  /** In this step. */
  end({ what, isBack, has }: Vanished): void {
    if (isBack()) return;
    for (const session of this.#registry.all()) {
      if (has(session)) session.dismiss(`${what} is no longer configured`);
    }
  }

  stop(): void {
    for (const cancel of this.#deadlines.values()) cancel();
    this.#deadlines.clear();
  }
}
