// The recent events, as a stream that continues by id, or as a list.
import { z } from 'zod';
import { unknownName } from '../../config/closest.ts';
import { memoized } from '../../model/once.ts';
import { API_VERSION, failure, json } from '../answer.ts';
import { get, type Endpoint } from '../endpoint.ts';
import type { LiveStatus } from '../live-status.ts';
import { isOfSession, type RecentEvents } from '../recent-events.ts';
import type { EventList, Gap, RecentEvent } from '../../documents/events-document.ts';
import type { StreamAnswer } from '../streams.ts';

export interface EventEndpointOptions {
  readonly events: Pick<RecentEvents, 'after' | 'lastId' | 'subscribe'>;
  readonly liveStatus: Pick<LiveStatus, 'follow'>;
  /** The names of events of level info and above. */
  readonly eventNames: readonly string[];
}

const LEVELS = ['info', 'warn', 'error'] as const;
const LIMIT = 100;

const querySchema = memoized(() =>
  z.strictObject({
    after: z
      .string()
      .optional()
      .describe('The id of the last event that the reader has. Last-Event-ID goes before it.'),
    limit: z.coerce.number().int().min(0).max(1024).default(LIMIT).describe('At most so many events that were before.'),
    pool: z.string().optional().describe('Only events of this pool.'),
    member: z.string().optional().describe('Only events that name this member.'),
    event: z
      .string()
      .transform((names) => names.split(',').map((name) => name.trim()))
      .optional()
      .describe('Only these events, separated by commas: route_changed,members_changed'),
    level: z.enum(LEVELS).default('info').describe('Only events of this level and above.'),
    status: z.literal('1').optional().describe('1: also the document of GET /status, at each change and each second.'),
    format: z.enum(['stream', 'json']).optional().describe('Default: by the header Accept, else stream.'),
  }),
);

type Query = z.output<ReturnType<typeof querySchema>> & { readonly isOperator: boolean };

export function events({ events: recent, liveStatus, eventNames }: EventEndpointOptions): readonly Endpoint[] {
  return [
    get({
      path: '/events',
      query: querySchema,
      answer({ query: asked, headers, isOperator }) {
        const query = { ...asked, isOperator };
        const unknown = query.event?.find((name) => !eventNames.includes(name));
        if (unknown !== undefined) return failure(400, unknownName('event', unknown, eventNames));
        const header = headers['last-event-id'];
        const after = (typeof header === 'string' ? header : undefined) ?? query.after;
        const accept = headers.accept ?? '';
        const isList =
          (query.format ?? (accept.includes('json') && !accept.includes('event-stream') ? 'json' : '')) === 'json';
        if (isList && query.status !== undefined)
          return failure(400, 'query parameter status: only for a stream; GET /status has the document alone');
        if (isList) return json(200, list(recent, query, after));
        return streamOf(recent, query, after, query.status === undefined ? undefined : liveStatus);
      },
    }),
  ];
}

/** After an id the oldest come first, so that a reader can continue with `last_id`; else the newest. */
function list(recent: EventEndpointOptions['events'], query: Query, after: string | undefined): EventList {
  const lastId = recent.lastId();
  const { events, gap } = recent.after(after);
  const wanted = events.filter((event) => isWanted(event, query));
  const shown = after === undefined ? newest(wanted, query.limit) : wanted.slice(0, query.limit);
  const isCut = after !== undefined && shown.length < wanted.length;
  return {
    events: shown,
    last_id: (isCut ? shown.at(-1)?.id : undefined) ?? (isCut ? after : lastId),
    gap: gap ?? null,
  };
}

/** `live`: its messages come after the events that they include. */
function streamOf(
  recent: EventEndpointOptions['events'],
  query: Query,
  after: string | undefined,
  live: EventEndpointOptions['liveStatus'] | undefined,
): StreamAnswer {
  return {
    isOperator: query.isOperator,
    stream(write) {
      const { events, gap } = recent.after(after);
      const wanted = events.filter((event) => isWanted(event, query));
      const shown = after === undefined ? newest(wanted, query.limit) : wanted;
      const endEvents = recent.subscribe((event) => {
        if (isWanted(event, query)) write(message(event));
      });
      const following = live?.follow(write);
      // In one piece: a reader that gets much at once is not slow.
      write([gap === undefined ? '' : gapMessage(gap), ...shown.map(message), following?.first ?? ''].join(''));
      return () => {
        endEvents();
        following?.end();
      };
    },
  };
}

function newest(wanted: readonly RecentEvent[], limit: number): readonly RecentEvent[] {
  return limit === 0 ? [] : wanted.slice(-limit);
}

/** Without a name, so that `onmessage` of an EventSource gets all of them. */
function message(event: RecentEvent): string {
  return `id: ${event.id}\ndata: ${JSON.stringify({ api_version: API_VERSION, ...event })}\n\n`;
}

function gapMessage(gap: Gap): string {
  return `event: gap\ndata: ${JSON.stringify({ api_version: API_VERSION, ...gap })}\n\n`;
}

/** Events of sessions name clients and users, as GET /sessions does: for callers with the token. */
function isWanted({ event, level, fields }: RecentEvent, query: Query): boolean {
  if (!query.isOperator && isOfSession(fields)) return false;
  if (LEVELS.indexOf(level) < LEVELS.indexOf(query.level)) return false;
  if (query.event !== undefined && !query.event.includes(event)) return false;
  if (query.pool !== undefined && fields['pool'] !== query.pool) return false;
  return query.member === undefined || names(fields, query.member);
}

function names(fields: RecentEvent['fields'], member: string): boolean {
  const { member: one, members = [], added = [], removed = [] } = fields;
  return one === member || [members, added, removed].some((list) => Array.isArray(list) && list.includes(member));
}
