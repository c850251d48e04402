// The one stream of events. Every part tells its events here, and the receivers get them in that order, synchronously.
// The events of a session that goes as usual may wait for each other. Told one by one they are a tenth of the cost of a
// short session: the code and the data of the receivers have left the processor's cache each time.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { nothing } from '../model/once.ts';
import type { ReportedEvent } from '../reports/events.ts';

type EventReceiver = (event: ReportedEvent, at?: Instant) => void;

/** Milliseconds. */
const LONGEST_WAIT_MS = 100;
const MOST_WAITING = 256;

export interface EventStreamOptions {
  readonly clock: Clock;
  /** False: a log, or another reader, shows each event when it happens. */
  readonly mayWait: () => boolean;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #receivers: EventReceiver[] = [];
  #waiting: { readonly event: ReportedEvent; readonly at: Instant }[] = [];
  #cancel = nothing;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  listen(receive: EventReceiver): void {
    this.#receivers.push(receive);
  }

  /** `at`: when it happened, if that was before this call. */
  readonly emit: EventReceiver = (event, at) => {
    if (isUsual(event) && this.#options.mayWait()) return this.#wait(event, at ?? this.#options.clock.now());
    this.flush();
    return this.#tell(event, at);
  };

  /** Tells what waits. To be called before counts are read, and at the end: no timer is left behind. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    this.#cancel();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { event, at } of waiting) this.#tell(event, at);
  }

  #wait(event: ReportedEvent, at: Instant): void {
    const waiting = this.#waiting.push({ event, at });
    if (waiting === 1) this.#cancel = this.#options.clock.schedule(LONGEST_WAIT_MS, () => this.flush());
    if (waiting >= MOST_WAITING) this.flush();
  }

  #tell(event: ReportedEvent, at?: Instant): void {
    for (const receive of this.#receivers) receive(event, at);
  }
}

/** The log has it below info, and no incident begins with it. */
function isUsual(event: ReportedEvent): boolean {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are told at once
  switch (event.kind) {
    case 'client_accepted':
    case 'session_opened':
      return true;
    case 'dial_finished':
      return event.outcome === 'connected';
    case 'session_closed': {
      const { counts, level } = CLOSE_REASONS[event.reason];
      return counts === 'ordinary' && level === 'debug';
    }
    default:
      return false;
  }
}
