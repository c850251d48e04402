// The recent events, for GET /events: as many as fit, oldest first, with an id that a reader can continue from. Pure
// but for the clock that it is given.

import type { EventIds } from '../reports/event-ids.ts';
import type { Gap, RecentEvent } from '../documents/events-document.ts';

export interface EventsAfter {
  readonly events: readonly RecentEvent[];
  readonly gap: Gap | undefined;
}

/** Sessions have a buffer of their own: a failover ends many, and their events must not push out the others. */
const MOST_OF_SESSIONS = 256;
const MOST_OTHERS = 768;

export interface NewEvent extends Pick<RecentEvent, 'level' | 'fields'> {
  readonly text: string;
  readonly number: number;
}

interface NumberedEvent {
  readonly number: number;
  readonly event: RecentEvent;
}

export function isOfSession(fields: RecentEvent['fields']): boolean {
  return 'session' in fields;
}

export class RecentEvents {
  readonly #ids: EventIds;
  readonly #wallClock: () => number;
  readonly #ofSessions: NumberedEvent[] = [];
  readonly #others: NumberedEvent[] = [];
  readonly #listeners = new Set<(event: RecentEvent) => void>();
  /** The highest number that no longer is in a buffer. */
  #lastDropped = 0;

  constructor({ ids, wallClock }: { readonly ids: EventIds; readonly wallClock: () => number }) {
    this.#ids = ids;
    this.#wallClock = wallClock;
  }

  add({ level, fields, text, number }: NewEvent): void {
    const { event: kind = 'log', event_id: _, ...rest } = fields;
    const event: RecentEvent = {
      id: this.#ids.idOf(number),
      time: new Date(this.#wallClock()).toISOString(),
      event: String(kind),
      level,
      message: text,
      fields: Object.fromEntries(
        Object.entries(rest).map(([key, value]) => [key, value instanceof Error ? value.message : value]),
      ),
    };
    const buffer = isOfSession(rest) ? this.#ofSessions : this.#others;
    buffer.push({ number, event });
    if (buffer.length > (isOfSession(rest) ? MOST_OF_SESSIONS : MOST_OTHERS)) {
      this.#lastDropped = Math.max(this.#lastDropped, buffer.shift()?.number ?? 0);
    }
    for (const listener of this.#listeners) listener(event);
  }

  /** The id of the newest event: an event that comes later is after it. */
  lastId(): string {
    return this.#ids.idOf(this.#ids.last());
  }

  /** The newest that are about no session, oldest first. */
  newest(count: number): readonly RecentEvent[] {
    return this.#others.slice(-count).map(({ event }) => event);
  }

  /** Undefined: every event that there still is. */
  after(id: string | undefined): EventsAfter {
    const kept = [...this.#ofSessions, ...this.#others].toSorted((a, b) => a.number - b.number);
    const events = (after: number): RecentEvent[] =>
      kept.filter(({ number }) => number > after).map(({ event }) => event);
    if (id === undefined) return { events: events(0), gap: undefined };
    const number = this.#ids.numberOf(id);
    if (number === undefined) return { events: events(0), gap: OTHER_RUN };
    return {
      events: events(number),
      gap: number < this.#lastDropped ? OVERRUN : undefined,
    };
  }

  /** Returns a function that ends it. */
  subscribe(listener: (event: RecentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

const OTHER_RUN: Gap = {
  why: 'other_run',
  message: 'the id is not of this run: Pointsman has started again, and earlier events are in its log only',
};
const OVERRUN: Gap = {
  why: 'buffer_overrun',
  message: 'some events after the id are no longer kept: they are in the log only',
};
