// Lines that a flood of clients could make one each of: the first of a kind is written whole, the others are counted,
// and each second one line says how many there were. Kinds are few: pools and members with an outcome each, never
// anything that a client sent.
import type { Clock } from '../model/instant.ts';

export interface Repeat {
  readonly key: string;
  /** `count` more of them came within a second. */
  readonly tell: (count: number) => void;
}

const EVERY_MS = 1_000;

export class Repeats {
  readonly #clock: Clock;
  readonly #open = new Map<string, { count: number; tell: Repeat['tell']; cancel: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True: this one is the first of its kind for a second, and is to be written. */
  isFirst({ key, tell }: Repeat): boolean {
    const known = this.#open.get(key);
    if (known === undefined) {
      this.#open.set(key, { count: 0, tell, cancel: this.#closeLater(key) });
      return true;
    }
    known.count += 1;
    known.tell = tell;
    return false;
  }

  /** Tells what was counted so far. */
  stop(): void {
    for (const [key, { count, tell, cancel }] of this.#open) {
      cancel();
      this.#open.delete(key);
      if (count > 0) tell(count);
    }
  }

  #closeLater(key: string): () => void {
    return this.#clock.schedule(EVERY_MS, () => {
      const known = this.#open.get(key);
      if (known === undefined) return;
      const { count, tell } = known;
      if (count === 0) {
        this.#open.delete(key);
        return;
      }
      known.count = 0;
      known.cancel = this.#closeLater(key);
      tell(count);
    });
  }
}
