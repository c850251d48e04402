// One sequence of ids for the log (`event_id`), GET /events and incidents: RUN-NUMBER. Every event takes a number, also
// one that is not logged, so numbers are counted here and become text only where an event is shown.

export class EventIds {
  readonly run: string;
  #last = 0;

  /** `run`: letters and digits; differs from that of the run before. */
  constructor(run: string) {
    this.run = run;
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** The number of the newest event; 0 before the first one. */
  last(): number {
    return this.#last;
  }

  idOf(number: number): string {
    return `${this.run}-${number}`;
  }

  /** Undefined: not an id of an event of this run. */
  numberOf(id: string): number | undefined {
    const [, run, digits] = /^(\w+)-(\d{1,15})$/.exec(id) ?? [];
    return run === this.run && Number(digits) <= this.#last ? Number(digits) : undefined;
  }
}
