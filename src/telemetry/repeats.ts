// Limits lines that many clients can cause at once: the first of a group is written, the rest are counted, and once a
// second one line has the count. The groups are few: a pool or member with an outcome, never data from a client.
import type { Clock } from '../model/instant.ts';

/** Reports that `count` more came within a second. */
type ReportCount = (count: number) => void;

const EVERY_MS = 1_000;

export class Repeats {
  readonly #clock: Clock;
  readonly #open = new Map<string, { count: number; report: ReportCount; cancel: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True: the first of its group within a second; write it. */
  isFirst(key: string, report: ReportCount): boolean {
    const known = this.#open.get(key);
    if (known === undefined) {
      this.#open.set(key, { count: 0, report, cancel: this.#closeLater(key) });
      return true;
    }
    known.count += 1;
    known.report = report;
    return false;
  }

  /** Reports the counts so far. */
  stop(): void {
    for (const [key, { count, report, cancel }] of this.#open) {
      cancel();
      this.#open.delete(key);
      if (count > 0) report(count);
    }
  }

  #closeLater(key: string): () => void {
    return this.#clock.schedule(EVERY_MS, () => {
      const known = this.#open.get(key);
      if (known === undefined) return;
      const { count, report } = known;
      if (count === 0) {
        this.#open.delete(key);
        return;
      }
      known.count = 0;
      known.cancel = this.#closeLater(key);
      report(count);
    });
  }
}
