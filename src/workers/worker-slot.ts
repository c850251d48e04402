// A place that is to be filled by a running worker: starts the next one when its last has died, ever later when they die again and
// again, and says so. Owns its timer.
import type { Clock, Instant } from '../model/instant.ts';

/** What is to be known of a worker here. */
export interface Filling {
  readonly startedAt: Instant;
  /** It accepts clients. */
  readonly hasBegun: boolean;
}

export interface SlotInputs<Worker extends Filling> {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly clock: Clock;
  readonly launch: (slot: Slot<Worker>) => Worker;
}

/** A worker that lived so long was well. Milliseconds. */
const WELL_AFTER_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** In a row that did not live long: from here on it is no accident. */
const TOO_MANY = 5;

export class Slot<Worker extends Filling> {
  readonly number: number;
  /** Undefined while it waits for the next one. */
  worker: Worker | undefined;
  restarts = 0;
  readonly #inputs: SlotInputs<Worker>;
  #deaths = 0;
  #lastWhy = '';
  #cancelStart: () => void = () => {};

  constructor(inputs: SlotInputs<Worker>) {
    this.number = inputs.number;
    this.#inputs = inputs;
  }

  start(): Worker {
    const worker = this.#inputs.launch(this);
    this.worker = worker;
    return worker;
  }

  /** Its worker has died. Returns after how many milliseconds the next one is to start. */
  lost(worker: Filling, why: string): number {
    this.worker = undefined;
    const wasWell = this.#inputs.clock.now() - worker.startedAt >= WELL_AFTER_MS;
    this.#deaths = wasWell ? 1 : this.#deaths + 1;
    this.#lastWhy = why;
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#deaths - 1));
  }

  /** `mayStart` is asked when the time has come; on a no this must be called again. */
  restartIn(delayMs: number, mayStart: () => boolean): void {
    this.#cancelStart();
    this.#cancelStart = this.#inputs.clock.schedule(delayMs, () => {
      if (this.worker !== undefined || !mayStart()) return;
      this.restarts += 1;
      this.start();
    });
  }

  stop(): void {
    this.#cancelStart();
  }

  /** Why nobody should rely on it. */
  trouble(): string | undefined {
    const isWell = this.worker?.hasBegun === true && this.#inputs.clock.now() - this.worker.startedAt >= WELL_AFTER_MS;
    if (this.#deaths < TOO_MANY || isWell) return undefined;
    return `worker ${this.number} ends again and again: ${this.#lastWhy}`;
  }
}
