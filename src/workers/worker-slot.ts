// Keeps one worker running: starts the next one when the last has died, with a growing pause while they die one after
// another, and reports that as trouble. Owns its timer.
import type { Clock, Instant } from '../model/instant.ts';

/** The part of a worker that its slot needs. */
export interface SlotWorker {
  readonly startedAt: Instant;
  /** The worker accepts clients. */
  readonly hasBegun: boolean;
}

export interface WorkerSlotOptions<Worker extends SlotWorker> {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly clock: Clock;
  readonly launch: (slot: WorkerSlot<Worker>) => Worker;
}

/** A worker that lived this long counts as healthy. Milliseconds. */
const HEALTHY_AFTER_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** This many short lives in a row are reported as trouble. */
const TOO_MANY = 5;

export class WorkerSlot<Worker extends SlotWorker> {
  readonly number: number;
  /** Undefined between two workers. */
  worker: Worker | undefined;
  restarts = 0;
  readonly #options: WorkerSlotOptions<Worker>;
  #deaths = 0;
  #lastWhy = '';
  #cancelStart: () => void = () => {};

  constructor(options: WorkerSlotOptions<Worker>) {
    this.number = options.number;
    this.#options = options;
  }

  start(): Worker {
    const worker = this.#options.launch(this);
    this.worker = worker;
    return worker;
  }

  /** The worker has died. Returns the pause before the next one starts, in milliseconds. */
  workerLost(worker: SlotWorker, why: string): number {
    this.worker = undefined;
    const wasHealthy = this.#options.clock.now() - worker.startedAt >= HEALTHY_AFTER_MS;
    this.#deaths = wasHealthy ? 1 : this.#deaths + 1;
    this.#lastWhy = why;
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#deaths - 1));
  }

  /** Calls `mayStart` after the delay. When it returns false, the caller must call this again. */
  restartIn(delayMs: number, mayStart: () => boolean): void {
    this.#cancelStart();
    this.#cancelStart = this.#options.clock.schedule(delayMs, () => {
      if (this.worker !== undefined || !mayStart()) return;
      this.restarts += 1;
      this.start();
    });
  }

  stop(): void {
    this.#cancelStart();
  }

  /** Why the slot is unhealthy; undefined when it is healthy. */
  trouble(): string | undefined {
    const isHealthy =
      this.worker?.hasBegun === true && this.#options.clock.now() - this.worker.startedAt >= HEALTHY_AFTER_MS;
    if (this.#deaths < TOO_MANY || isHealthy) return undefined;
    return `worker ${this.number} keeps dying: ${this.#lastWhy}`;
  }
}
