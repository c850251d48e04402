// The spans of the last hour, for GET /timeline: what lasted, made from the events. Bounded, and pure but for the
// clocks that it is given.
import { countText, durationText } from '../core/describe.ts';
import { HOLD_WORDS, isPlanned } from '../core/routing-table.ts';
import { isBehind } from '../core/why.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { WaitGroup } from '../history/waiting-clients.ts';
import type { Instant } from '../model/instant.ts';
import { handle, type EventHandlers, type EventOf, type HoldOutcome, type ReportedEvent } from '../reports/events.ts';
import type { SpanDocument, TimelineDocument } from '../documents/timeline-document.ts';
import { isoTime } from './status-units.ts';

type Kind = SpanDocument['kind'];
type Severity = SpanDocument['severity'];

export interface SpansOptions {
  readonly now: () => Instant;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** It has each event before it comes here. */
  readonly history: Pick<ClusterHistory, 'hasPool' | 'waiting' | 'lastPlan'>;
  /** The incident of a time. Milliseconds since 1970; `to` undefined: it goes on. */
  readonly incidentAt: (from: number, to: number | undefined) => string | undefined;
}

interface Span {
  readonly id: string;
  readonly kind: Kind;
  readonly pool: string | undefined;
  readonly member: string | undefined;
  readonly at: Instant;
  /** Milliseconds since 1970. */
  readonly from: number;
  to?: number;
  severity: Severity;
  /** `ms`: how long the span has lasted; undefined while it goes on. */
  text: (ms: number | undefined) => string;
}

const WINDOW_MS = 3_600_000;
/** A flapping member makes many; the oldest then leave before their hour is over. */
const MOST_SPANS = 500;
/** Lag and drained members last long, and an incident meanwhile need not be about them. */
const OF_INCIDENTS: readonly Kind[] = ['no_route', 'hold', 'handover'];
const UNSERVED = ['timeout', 'gave_up', 'refused'] as const satisfies readonly HoldOutcome[];
const SEVERITIES: readonly Severity[] = ['info', 'warn', 'error'];

export class Spans {
  readonly #options: SpansOptions;
  readonly #open = new Map<string, Span>();
  readonly #closed: Span[] = [];
  #completeFrom: number;
  #count = 0;
  /** When the event that is being taken happened. */
  #at: Instant = 0;

  readonly #handlers: EventHandlers = {
    route_changed: (event) => this.#route(event),
    hold_started: ({ pool }) => this.#waits(pool),
    hold_ended: ({ pool }) => this.#waits(pool),
    standing_changed: (event) => this.#standing(event),
    member_drained: ({ member }) =>
      this.#begin('drained', { member }, 'info', (ms) => `${member}: drained by the operator${lasted(ms)}`),
    member_resumed: ({ member }) => this.#end('drained', { member }),
    operation_started: ({ what, to }) =>
      this.#begin('handover', {}, 'info', () => `${what}${to === undefined ? '' : ` to ${to}`}: running`),
    operation_ended: (event) => this.#operationEnded(event),
    members_changed: ({ removed }) => this.#endAll('lag', ({ member }) => removed.some((name) => name === member)),
    config_reloaded: () => this.#poolsGone(),
  };

  constructor(options: SpansOptions) {
    this.#options = options;
    this.#completeFrom = options.wallClock();
  }

  /** `at`: when it happened, which may be before this call. */
  take(event: ReportedEvent, at: Instant): void {
    this.#at = at;
    handle(this.#handlers, event);
  }

  document(): TimelineDocument {
    const to = this.#options.wallClock();
    this.#forget(to);
    const spans = [...this.#closed, ...this.#open.values()].toSorted((a, b) => a.from - b.from);
    return {
      from: isoTime(Math.max(to - WINDOW_MS, this.#completeFrom)),
      to: isoTime(to),
      spans: spans.map((span) => this.#documentOf(span)),
    };
  }

  #route({ pool, to }: EventOf<'route_changed'>): void {
    if (to.kind === 'open') {
      const span = this.#open.get(keyOf('no_route', { pool }));
      // Evidence of a plan may come only after the loss.
      if (span !== undefined && this.#options.history.lastPlan(pool) === 'planned') span.severity = 'info';
      return this.#end('no_route', { pool });
    }
    // Every start has a first moment without a route.
    if (to.kind === 'hold' && to.cause === 'starting') return undefined;
    const why = HOLD_WORDS[to.kind === 'hold' ? to.cause : 'no_member'];
    const text = (ms: number | undefined): string => `pool ${pool}: no route${lasted(ms)} (${why})`;
    this.#begin('no_route', { pool }, isPlanned(to) ? 'info' : 'error', text);
  }

  #waits(pool: string): void {
    const group = this.#options.history.waiting.of(pool);
    if (group === undefined) return;
    const unserved = group.ended(...UNSERVED);
    this.#begin('hold', { pool }, unserved === 0 ? 'info' : 'warn', waitingText(pool, group));
    if (group.now() === 0) this.#end('hold', { pool });
  }

  #standing({ pool, member, to, text }: EventOf<'standing_changed'>): void {
    const isLagging = isBehind(to.why) || to.why.code === 'least_lagging';
    if (!isLagging) return this.#end('lag', { pool, member });
    const lag = to.why.detail === undefined ? text : to.why.detail;
    this.#begin(
      'lag',
      { pool, member },
      'warn',
      (ms) => `pool ${pool}: ${member} over its lag limit${lasted(ms)}: ${lag}`,
    );
  }

  #operationEnded({ what, from, primary, outcome, why }: EventOf<'operation_ended'>): void {
    const severity = outcome === 'done' ? 'info' : outcome === 'unknown' ? 'error' : 'warn';
    const members = from === undefined || primary === undefined ? '' : ` ${from} -> ${primary}`;
    this.#begin('handover', {}, severity, (ms) => `${what}${members}: ${outcome}${lasted(ms, 'after')}: ${why}`);
    this.#end('handover', {});
  }

  /** Clients that wait for a removed pool are refused: the last of them ends their span. */
  #poolsGone(): void {
    for (const kind of ['no_route', 'lag'] as const)
      this.#endAll(kind, ({ pool }) => pool !== undefined && !this.#options.history.hasPool(pool));
  }

  /** A span that is open already keeps its beginning, and gets the text and the graver severity. */
  #begin(kind: Kind, about: About, severity: Severity, text: Span['text']): void {
    const key = keyOf(kind, about);
    const open = this.#open.get(key);
    if (open !== undefined) {
      open.text = text;
      if (SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(open.severity)) open.severity = severity;
      return;
    }
    this.#count += 1;
    const { now, wallClock } = this.#options;
    const { pool, member } = about;
    const id = `span-${this.#count}`;
    const from = wallClock() - (now() - this.#at);
    this.#open.set(key, { id, kind, pool, member, at: this.#at, from, severity, text });
  }

  #end(kind: Kind, about: About): void {
    const key = keyOf(kind, about);
    const span = this.#open.get(key);
    if (span === undefined) return;
    this.#open.delete(key);
    span.to = span.from + Math.max(0, this.#at - span.at);
    this.#closed.push(span);
    this.#forget(span.to);
  }

  #endAll(kind: Kind, isMeant: (span: Span) => boolean): void {
    const meant = Array.from(this.#open.values()).filter((span) => span.kind === kind && isMeant(span));
    for (const span of meant) this.#end(kind, span);
  }

  #forget(now: number): void {
    const first = this.#closed.findIndex(({ to = now }) => to >= now - WINDOW_MS);
    this.#closed.splice(0, first === -1 ? this.#closed.length : first);
    for (const { to = now } of this.#closed.splice(0, Math.max(0, this.#closed.length - MOST_SPANS)))
      this.#completeFrom = Math.max(this.#completeFrom, to);
  }

  #documentOf({ id, kind, pool, member, from, to, severity, text }: Span): SpanDocument {
    return {
      id,
      kind,
      from: isoTime(from),
      to: to === undefined ? null : isoTime(to),
      pool: pool ?? null,
      member: member ?? null,
      severity,
      text: text(to === undefined ? undefined : to - from),
      incident_id: OF_INCIDENTS.includes(kind) ? (this.#options.incidentAt(from, to) ?? null) : null,
    };
  }
}

type About = Partial<Pick<Span, 'pool' | 'member'>>;

function keyOf(kind: Kind, { pool = '', member = '' }: About): string {
  return `${kind} ${pool} ${member}`;
}

function waitingText(pool: string, group: WaitGroup): Span['text'] {
  return (ms) => {
    if (ms === undefined) return `pool ${pool}: ${countText(group.now(), 'client')} waiting`;
    const others = group.ended(...UNSERVED);
    const unserved = others === 0 ? '' : `, ${others} not served`;
    const waited = countText(group.ended('released') + others, 'client');
    return `pool ${pool}: ${waited} waited, longest ${durationText(group.longestMs())}${unserved}`;
  };
}

/** Empty while the span goes on. */
function lasted(ms: number | undefined, word = 'for'): string {
  return ms === undefined ? '' : ` ${word} ${durationText(ms)}`;
}
