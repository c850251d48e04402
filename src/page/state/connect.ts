// Keeps the store current with one event stream: the status, events, and with each connection the last hour. The
// browser connects again by itself after a break; a stream that is silent or refused is made anew.
import type { SamplesDocument } from '../../documents/samples-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import type { TimelineDocument } from '../../documents/timeline-document.ts';
import { get } from '../operate/requests.ts';
import { pageState, send } from './store.ts';

/** A status comes every second. */
const SILENT_MS = 5000;
const LOOK_MS = 1000;
const DEADLINE_MS = 5000;
/** Spans also change without an event: waiting clients, and lag. */
const TIMELINE_MS = 10_000;
/** After an event. Several events are one request. */
const TIMELINE_SOON_MS = 300;
/** A tab in the background gives its connection back: a browser has six for each host. */
const HIDDEN_MS = 10_000;

let stream: EventSource | undefined;
// Instants are those of performance.now().
/** The newest message, or the attempt to connect. */
let heardAt = 0;
let timelineAt = 0;
let hiddenAt: number | undefined;
/** The last hour was read for this connection. */
let isCaughtUp = false;
let version: string | undefined;

/** Never ends. */
export function connect(): void {
  open();
  document.addEventListener('visibilitychange', () => {
    hiddenAt = document.hidden ? performance.now() : undefined;
    if (!document.hidden && stream === undefined) open();
  });
  setInterval(look, LOOK_MS);
}

function look(): void {
  const now = performance.now();
  if (hiddenAt !== undefined && now - hiddenAt > HIDDEN_MS) {
    stream?.close();
    stream = undefined;
    return;
  }
  if (now - heardAt > SILENT_MS) {
    const { connection } = pageState();
    // An error has told more than this already.
    if (connection.kind !== 'lost') send({ kind: 'lost', why: 'it has been silent for 5 s' });
    open();
  } else if (now >= timelineAt && pageState().connection.kind === 'live') {
    void readTimeline();
  }
}

function open(): void {
  stream?.close();
  isCaughtUp = false;
  heardAt = performance.now();
  const { lastId } = pageState();
  const after = lastId === undefined ? '' : `&after=${encodeURIComponent(lastId)}`;
  const own = new EventSource(`events?status=1${after}`);
  stream = own;
  const heard = (take: (data: string, id: string) => void) => (message: MessageEvent<string>) => {
    heardAt = performance.now();
    take(message.data, message.lastEventId);
  };
  own.addEventListener(
    'status',
    heard((data, id) => takeStatus(JSON.parse(data), id)),
  );
  own.addEventListener(
    'gap',
    heard((data) => send({ kind: 'gap', gap: JSON.parse(data) })),
  );
  own.addEventListener(
    'message',
    heard((data) => {
      send({ kind: 'event', event: JSON.parse(data) });
      timelineAt = Math.min(timelineAt, performance.now() + TIMELINE_SOON_MS);
    }),
  );
  own.addEventListener('error', () => {
    isCaughtUp = false;
    if (own.readyState === EventSource.CLOSED) void refused().then((why) => send({ kind: 'lost', why }));
    else send({ kind: 'lost', why: 'the connection has ended' });
  });
}

function takeStatus(status: StatusDocument, id: string): void {
  // Another version has another page.
  if (version !== undefined && version !== status.version) location.reload();
  version = status.version;
  send({ kind: 'status', status, at: performance.now(), id });
  if (isCaughtUp) return;
  isCaughtUp = true;
  void readSamples();
  void readTimeline();
}

// Without an answer nothing changes: the stream tells that the connection is lost.
async function readSamples(): Promise<void> {
  const answer = await get<SamplesDocument>('samples', inTime());
  if (answer.kind === 'done') send({ kind: 'samples', samples: answer.body });
}

async function readTimeline(): Promise<void> {
  timelineAt = performance.now() + TIMELINE_MS;
  const answer = await get<TimelineDocument>('timeline', inTime());
  if (answer.kind === 'done') send({ kind: 'timeline', timeline: answer.body });
}

function inTime(): RequestInit {
  return { signal: AbortSignal.timeout(DEADLINE_MS) };
}

/** Why there is no stream: the reason of an answer that an EventSource does not show. */
async function refused(): Promise<string> {
  const ending = new AbortController();
  try {
    const response = await fetch('events?limit=0', { cache: 'no-store', signal: ending.signal });
    if (response.ok) return 'the connection has ended';
    const { error }: { readonly error?: string } = await response.json();
    return error ?? `it answers with status ${response.status}`;
  } catch {
    return 'it does not answer';
  } finally {
    ending.abort();
  }
}
