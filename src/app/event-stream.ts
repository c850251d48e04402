// The one stream of what happens: every part tells it, and the receivers hear of it in that order, synchronously. The
// events of a session that goes as usual may wait for others of their kind: told one by one they are a tenth of the
// cost of a short session, because nothing that their receivers use is in the processor's cache by then.
import { CLOSE_REASONS } from '../model/close-reason.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { nothing } from '../model/once.ts';
import type { ReportedEvent } from '../reports/events.ts';

type Receiver = (event: ReportedEvent, at?: Instant) => void;

/** Milliseconds. */
const LONGEST_WAIT_MS = 100;
const MOST_WAITING = 256;

export interface EventStreamOptions {
  readonly clock: Clock;
  /** False: somebody reads each event in its moment. */
  readonly mayWait: () => boolean;
}

export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #receivers: Receiver[] = [];
  #waiting: { readonly event: ReportedEvent; readonly at: Instant }[] = [];
  #cancel = nothing;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  listen(receive: Receiver): void {
    this.#receivers.push(receive);
  }

  /** `at`: when it happened, if that was before this call. */
  readonly emit: Receiver = (event, at) => {
    if (isUsual(event) && this.#options.mayWait()) return this.#wait(event, at ?? this.#options.clock.now());
    this.flush();
    return this.#tell(event, at);
  };

  /** Tells what waits. Called before a reader looks at what was counted, and at the end. */
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
