// Steady traffic: 20 writes a second by each of several ways, every write on a connection of its own, and a line that
// compares the ways.
import type { Clock } from '../../model/instant.ts';

/** A way to the primary. `write` rejects when the write failed. */
export interface TrafficWay {
  readonly name: string;
  readonly write: () => Promise<void>;
  /** From one write to the next. Milliseconds; default 50. */
  readonly everyMs?: number;
}

export interface TrafficOptions {
  readonly ways: readonly TrafficWay[];
  readonly clock: Clock;
  /** Called once a second while there is traffic. */
  readonly onStatus: (text: string) => void;
}

const EVERY_MS = 50;
const STATUS_EVERY_MS = 1_000;
/** A write takes a few milliseconds. One that takes longer than this waits. */
const WAITS_FROM_MS = 200;
/** No further ones are begun by a way with this many under way. */
const MOST_UNDER_WAY = 400;

class TrafficCounts {
  readonly #clock: Clock;
  readonly #begun = new Set<{ readonly at: number }>();
  #ok = 0;
  #okBefore = 0;
  #failed = 0;
  #longestMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async count(write: () => Promise<void>): Promise<void> {
    if (this.#begun.size >= MOST_UNDER_WAY) return;
    const begun = { at: this.#clock.now() };
    this.#begun.add(begun);
    try {
      await write();
      this.#ok += 1;
      this.#longestMs = Math.max(this.#longestMs, this.#clock.now() - begun.at);
    } catch {
      this.#failed += 1;
    } finally {
      this.#begun.delete(begun);
    }
  }

  /** `20/s, 0 failed, 0 waiting, longest 3.9 s`: to be called once a second. */
  status(): string {
    const now = this.#clock.now();
    const ages = [...this.#begun].map(({ at }) => now - at);
    const ok = this.#ok - this.#okBefore;
    this.#okBefore = this.#ok;
    const waiting = ages.filter((age) => age >= WAITS_FROM_MS).length;
    return `${ok}/s, ${this.#failed} failed, ${waiting} waiting${this.#longest(Math.max(0, ...ages))}`;
  }

  total(): string {
    return `${this.#ok} ok, ${this.#failed} failed${this.#longest(0)}`;
  }

  #longest(nowMs: number): string {
    const longestMs = Math.max(this.#longestMs, nowMs);
    return longestMs < WAITS_FROM_MS ? '' : `, longest ${(longestMs / 1000).toFixed(1)} s`;
  }
}

export interface SteadyTraffic {
  isOn(): boolean;
  start(): void;
  /** Returns what there was since the start. Writes under way still end. */
  stop(): string;
}

export function createTraffic({ ways, clock, onStatus }: TrafficOptions): SteadyTraffic {
  let counted: readonly (readonly [TrafficWay, TrafficCounts])[] = [];
  let isOn = false;
  const cancels = new Set<() => void>();
  /** Now and then again and again, until the stop. */
  const repeat = (everyMs: number, run: () => void): void => {
    const cancel = clock.schedule(everyMs, () => {
      cancels.delete(cancel);
      run();
      repeat(everyMs, run);
    });
    cancels.add(cancel);
  };
  const sumUp = (text: (counts: TrafficCounts) => string): string =>
    counted.map(([{ name }, counts]) => `${name} ${text(counts)}`).join(' | ');
  return {
    isOn: () => isOn,
    start() {
      isOn = true;
      counted = ways.map((way) => [way, new TrafficCounts(clock)]);
      for (const [{ write, everyMs = EVERY_MS }, counts] of counted) repeat(everyMs, () => void counts.count(write));
      repeat(STATUS_EVERY_MS, () => onStatus(sumUp((counts) => counts.status())));
    },
    stop() {
      isOn = false;
      for (const cancel of cancels) cancel();
      cancels.clear();
      return `writes: ${sumUp((counts) => counts.total())}`;
    },
  };
}
