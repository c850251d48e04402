// Reports to the main process what this worker does and has: shortly after a change, several changes in one report, and
// at least once a second as a sign of life. Owns its timers.
import type { ProxyEvent } from '../reports/events.ts';
import type { Clock } from '../model/instant.ts';
import type { WorkerReport, TimedEvent } from './messages.ts';

export interface ReporterOptions {
  readonly clock: Clock;
  /** The worker's current numbers. */
  readonly read: () => Omit<WorkerReport, 'events'>;
  readonly send: (report: WorkerReport) => void;
}

/**
 * From a change to its report. The main process waits as long again before it informs the other workers; the two
 * together are the slack of limits over all workers. Milliseconds.
 */
export const REPORT_MS = 20;
export const BEAT_MS = 1_000;

/** This many events are reported at once, so that a message stays small. */
const MOST_EVENTS = 500;

export class Reporter {
  readonly #options: ReporterOptions;
  #events: TimedEvent[] = [];
  #isDue = false;
  #cancelReport: () => void = () => {};
  #cancelBeat: () => void = () => {};

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#beat();
  }

  happened(event: ProxyEvent): void {
    this.#events.push({ event, at: this.#options.clock.now() });
    if (this.#events.length === MOST_EVENTS) this.#reportIn(0);
    else this.changed();
  }

  /** A value of the report has changed. */
  changed(): void {
    if (!this.#isDue) this.#reportIn(REPORT_MS);
  }

  /** Synchronously. */
  report(): void {
    this.#cancelReport();
    this.#isDue = false;
    const events = this.#events;
    this.#events = [];
    this.#options.send({ events, ...this.#options.read() });
  }

  stop(): void {
    this.#cancelReport();
    this.#cancelBeat();
  }

  #reportIn(delayMs: number): void {
    this.#cancelReport();
    this.#isDue = true;
    this.#cancelReport = this.#options.clock.schedule(delayMs, () => this.report());
  }

  #beat(): void {
    this.#cancelBeat = this.#options.clock.schedule(BEAT_MS, () => {
      this.report();
      this.#beat();
    });
  }
}
