// All that the page knows, and how each message changes it. Pure, and bounded: a page may stay open for weeks.
import type { Gap, RecentEvent } from '../../documents/events-document.ts';
import type { SamplesDocument } from '../../documents/samples-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import type { TimelineDocument } from '../../documents/timeline-document.ts';
import { withSampleOf } from './samples.ts';

export interface PageState {
  /** Undefined before the first one. */
  readonly status: StatusDocument | undefined;
  /** The arrival of `status`, from which ages tick. Milliseconds of performance.now(). */
  readonly receivedAt: number;
  /** All of one run of Pointsman, the newest last. */
  readonly events: readonly RecentEvent[];
  /** The last hour, continued with each status. Undefined: not read yet. */
  readonly samples: SamplesDocument | undefined;
  /** Undefined: not read yet. */
  readonly timeline: TimelineDocument | undefined;
  readonly connection: Connection;
  /** The id of the newest message that has one: the stream continues after it. */
  readonly lastId: string | undefined;
}

/** `lost`: the content of the page is old. `why`: a clause. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly why: string };

export type PageMessage =
  /** `at`: performance.now(). `id`: of the newest event before it. */
  | { readonly kind: 'status'; readonly status: StatusDocument; readonly at: number; readonly id: string }
  | { readonly kind: 'event'; readonly event: RecentEvent }
  | { readonly kind: 'gap'; readonly gap: Gap }
  | { readonly kind: 'samples'; readonly samples: SamplesDocument }
  | { readonly kind: 'timeline'; readonly timeline: TimelineDocument }
  | { readonly kind: 'lost'; readonly why: string };

const MOST_EVENTS = 200;

export function firstState(): PageState {
  return {
    status: undefined,
    receivedAt: 0,
    events: [],
    samples: undefined,
    timeline: undefined,
    connection: { kind: 'connecting' },
    lastId: undefined,
  };
}

export function nextState(state: PageState, message: PageMessage): PageState {
  switch (message.kind) {
    case 'status': {
      const { status, at, id } = message;
      const known = ofRun(state, id);
      const samples = known.samples && withSampleOf(known.samples, status);
      return { ...known, status, receivedAt: at, samples, lastId: id, connection: { kind: 'live' } };
    }
    case 'event': {
      const { event } = message;
      const known = ofRun(state, event.id);
      if (known.events.some(({ id }) => id === event.id)) return known;
      return { ...known, events: newest([...known.events, event]), lastId: event.id };
    }
    case 'gap':
      return message.gap.why === 'other_run' ? withoutRun(state) : { ...state, events: withGap(state, message.gap) };
    case 'samples':
      return { ...state, samples: message.samples };
    case 'timeline':
      return { ...state, timeline: message.timeline };
    case 'lost':
      return { ...state, connection: { kind: 'lost', why: message.why } };
  }
}

/** Without what an earlier run of Pointsman told: its events and samples were in its memory only. */
function ofRun(state: PageState, id: string): PageState {
  return state.lastId === undefined || runOf(state.lastId) === runOf(id) ? state : withoutRun(state);
}

function withoutRun(state: PageState): PageState {
  return { ...state, events: [], samples: undefined, timeline: undefined, lastId: undefined };
}

/** RUN-NUMBER */
function runOf(id: string): string {
  return id.slice(0, id.lastIndexOf('-'));
}

/** A line in the list where events are missing. */
function withGap({ events, lastId }: PageState, { why, message }: Gap): readonly RecentEvent[] {
  const last = events.at(-1);
  if (last === undefined) return events;
  const id = `gap after ${lastId}`;
  return newest([...events, { id, time: last.time, event: 'gap', level: 'warn', message, fields: { why } }]);
}

function newest(events: readonly RecentEvent[]): readonly RecentEvent[] {
  return events.slice(-MOST_EVENTS);
}
