// Tells the main process what this worker does and has: soon after something changed, not for every change, and once a second in any
// case, which is also its sign of life. Owns its timers.
import type { ProxyEvent } from '../reports/events.ts';
import type { Clock } from '../model/instant.ts';
import type { Report } from './messages.ts';

export interface ReporterOptions {
  readonly clock: Clock;
  /** What it has at this moment. */
  readonly read: () => Omit<Report, 'events'>;
  readonly send: (report: Report) => void;
}

/** From a change to the word of it. The main process waits as long again: together the slack of bounds over all workers. Milliseconds. */
export const REPORT_MS = 20;
export const BEAT_MS = 1_000;

/** So many wait no longer than this step: a message should not grow without bound. */
const MOST_EVENTS = 500;

export class Reporter {
  readonly #options: ReporterOptions;
  #events: ProxyEvent[] = [];
  #isDue = false;
  #cancelReport: () => void = () => {};
  #cancelBeat: () => void = () => {};

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#beat();
  }

  happened(event: ProxyEvent): void {
    this.#events.push(event);
    if (this.#events.length === MOST_EVENTS) this.#reportIn(0);
    else this.changed();
  }

  /** Something that the report tells is another than before. */
  changed(): void {
    if (!this.#isDue) this.#reportIn(REPORT_MS);
  }

  /** In this step. */
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
