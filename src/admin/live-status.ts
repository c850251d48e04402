// The status for readers that stay: in the turn of each change, and once a second. Its text is made once for all of
// them, and nothing is made without a reader.
import type { Clock, Instant } from '../model/instant.ts';
import { onOneLine } from '../model/printable.ts';
import { API_VERSION } from './answer.ts';
import { isOfSession, type RecentEvents } from './recent-events.ts';
import type { StatusDocument } from '../documents/status-document.ts';

export interface LiveStatusOptions {
  readonly clock: Clock;
  readonly events: Pick<RecentEvents, 'lastId' | 'subscribe'>;
  readonly read: () => StatusDocument;
}

export interface StatusSubscription {
  /** The status now, as a message. */
  readonly first: string;
  /** No message comes after it. */
  readonly end: () => void;
}

const EVERY_MS = 1000;
/** The least time from one message to the next: a burst of changes is one message. */
const GAP_MS = 50;

export class LiveStatus {
  readonly #options: LiveStatusOptions;
  readonly #readers = new Set<(message: string) => void>();
  /** Undefined: out of date. */
  #message: string | undefined;
  #sentAt: Instant = -Infinity;
  #isDue = false;
  #cancelNext: () => void = () => {};
  #unsubscribe: () => void = () => {};

  constructor(options: LiveStatusOptions) {
    this.#options = options;
  }

  /** `write` gets every message after the first. */
  follow(write: (message: string) => void): StatusSubscription {
    if (this.#readers.size === 0) this.#begin();
    this.#readers.add(write);
    const end = (): void => {
      if (this.#readers.delete(write) && this.#readers.size === 0) this.#end();
    };
    return { first: (this.#message ??= this.#made()), end };
  }

  /** The document is another one from now on. Readers get it in this turn, or at the end of the gap. */
  changed(): void {
    this.#message = undefined;
    if (this.#isDue || this.#readers.size === 0) return;
    this.#isDue = true;
    const { clock } = this.#options;
    const waitMs = this.#sentAt + GAP_MS - clock.now();
    // Not at once: one decision may change several pools, and its events come first.
    if (waitMs <= 0) queueMicrotask(() => this.#send());
    else this.#next(waitMs);
  }

  #begin(): void {
    // A line of the log is a part of the document, and whatever an operator should notice has one.
    this.#unsubscribe = this.#options.events.subscribe(({ fields }) => {
      if (!isOfSession(fields)) this.changed();
    });
    this.#next(EVERY_MS);
  }

  #end(): void {
    this.#unsubscribe();
    this.#cancelNext();
    this.#isDue = false;
    this.#message = undefined;
  }

  #next(delayMs: number): void {
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.schedule(delayMs, () => this.#send());
  }

  #send(): void {
    this.#isDue = false;
    if (this.#readers.size === 0) return;
    const message = this.#made();
    this.#message = message;
    this.#sentAt = this.#options.clock.now();
    for (const write of this.#readers) write(message);
    this.#next(EVERY_MS);
  }

  /** With the id of the newest event, from which a reader continues: it has all events up to it. */
  #made(): string {
    const { events, read } = this.#options;
    try {
      const data = JSON.stringify({ api_version: API_VERSION, ...read() });
      return `id: ${events.lastId()}\nevent: status\ndata: ${data}\n\n`;
    } catch (error) {
      // A comment: a fault in a document must not end the program.
      return `: no status: ${onOneLine(String(error))}\n\n`;
    }
  }
}
