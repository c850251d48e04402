// Keeps the store current with one event stream: the status, events, and with each connection the last hour. The
// browser connects again by itself after a break; a stream that is silent or refused is made anew.
import type { Gap, RecentEvent } from '../../documents/events-document.ts';
import type { SamplesDocument } from '../../documents/samples-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';
import type { TimelineDocument } from '../../documents/timeline-document.ts';
import type { PageStore } from './store.ts';

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

interface StatusStream {
  stream: EventSource | undefined;
  /** performance.now() of the newest message, or of the attempt to connect. */
  heardAt: number;
  /** The last hour was read for this connection. */
  isCaughtUp: boolean;
  timelineAt: number;
  hiddenAt: number | undefined;
  version: string | undefined;
}

/** Never ends. */
export function connect(store: PageStore): void {
  const line: StatusStream = {
    stream: undefined,
    heardAt: 0,
    isCaughtUp: false,
    timelineAt: 0,
    hiddenAt: undefined,
    version: undefined,
  };
  open(line, store);
  document.addEventListener('visibilitychange', () => {
    line.hiddenAt = document.hidden ? performance.now() : undefined;
    if (!document.hidden && line.stream === undefined) open(line, store);
  });
  setInterval(() => look(line, store), LOOK_MS);
}

function look(line: StatusStream, store: PageStore): void {
  const now = performance.now();
  if (line.hiddenAt !== undefined && now - line.hiddenAt > HIDDEN_MS) {
    line.stream?.close();
    line.stream = undefined;
    return;
  }
  if (now - line.heardAt > SILENT_MS) {
    const { connection } = store.get();
    // An error has told more than this already.
    if (connection.kind !== 'lost') store.send({ kind: 'lost', why: 'it has been silent for 5 s' });
    open(line, store);
  } else if (now >= line.timelineAt && store.get().connection.kind === 'live') {
    readTimeline(line, store);
  }
}

function open(line: StatusStream, store: PageStore): void {
  line.stream?.close();
  line.isCaughtUp = false;
  line.heardAt = performance.now();
  const { lastId } = store.get();
  const after = lastId === undefined ? '' : `&after=${encodeURIComponent(lastId)}`;
  const stream = new EventSource(`events?status=1${after}`);
  line.stream = stream;
  const heard = (take: (data: string, id: string) => void) => (message: MessageEvent<string>) => {
    line.heardAt = performance.now();
    take(message.data, message.lastEventId);
  };
  stream.addEventListener(
    'status',
    heard((data, id) => takeStatus(JSON.parse(data), id, line, store)),
  );
  stream.addEventListener(
    'gap',
    heard((data) => {
      const gap: Gap = JSON.parse(data);
      store.send({ kind: 'gap', gap });
    }),
  );
  stream.addEventListener(
    'message',
    heard((data) => {
      const event: RecentEvent = JSON.parse(data);
      store.send({ kind: 'event', event });
      line.timelineAt = Math.min(line.timelineAt, performance.now() + TIMELINE_SOON_MS);
    }),
  );
  stream.addEventListener('error', () => {
    line.isCaughtUp = false;
    if (stream.readyState === EventSource.CLOSED) void refused().then((why) => store.send({ kind: 'lost', why }));
    else store.send({ kind: 'lost', why: 'the connection has ended' });
  });
}

function takeStatus(status: StatusDocument, id: string, line: StatusStream, store: PageStore): void {
  // Another version has another page.
  if (line.version !== undefined && line.version !== status.version) location.reload();
  line.version = status.version;
  store.send({ kind: 'status', status, at: performance.now(), id });
  if (line.isCaughtUp) return;
  line.isCaughtUp = true;
  void read<SamplesDocument>('samples').then((samples) => samples && store.send({ kind: 'samples', samples }));
  readTimeline(line, store);
}

function readTimeline(line: StatusStream, store: PageStore): void {
  line.timelineAt = performance.now() + TIMELINE_MS;
  void read<TimelineDocument>('timeline').then((timeline) => timeline && store.send({ kind: 'timeline', timeline }));
}

/** Undefined: no answer. The stream tells that the connection is lost. */
async function read<Document>(path: string): Promise<Document | undefined> {
  try {
    const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(DEADLINE_MS) });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
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
