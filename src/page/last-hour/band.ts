// Where the spans of the last hour are on the band, and their lines of text. Pure.
import type { SpanDocument } from '../../documents/timeline-document.ts';
import { dateText } from '../view/words.ts';

const HOUR_MS = 3_600_000;
const QUARTER_MS = 900_000;
/** The least part of the band that a span takes, so that a short one is visible, too. */
const LEAST_PERCENT = 0.5;
/** Three lanes. */
const TOPS: Readonly<Record<SpanDocument['kind'], number>> = {
  no_route: 4,
  handover: 4,
  hold: 20,
  lag: 36,
  drained: 36,
};

export interface Bar {
  readonly span: SpanDocument;
  /** Percent of the band's width. */
  readonly left: number;
  readonly width: number;
  /** Pixels. */
  readonly top: number;
}

/** `now`: milliseconds since 1970. Spans that ended before the hour have no bar. */
export function barsOf(spans: readonly SpanDocument[], now: number): readonly Bar[] {
  return spans.flatMap((span) => {
    const [from, to] = [Date.parse(span.from), span.to === null ? now : Date.parse(span.to)];
    if (to < now - HOUR_MS) return [];
    const left = Math.min(100 - LEAST_PERCENT, percent(from, now));
    const width = Math.max(LEAST_PERCENT, Math.min(100, percent(to, now)) - left);
    return [{ span, left, width, top: TOPS[span.kind] }];
  });
}

/** Quarters of an hour, with their place in percent. */
export function ticksOf(now: number): readonly { readonly at: number; readonly left: number }[] {
  const first = Math.ceil((now - HOUR_MS) / QUARTER_MS) * QUARTER_MS;
  return [0, 1, 2, 3].map((index) => first + index * QUARTER_MS).map((at) => ({ at, left: percent(at, now) }));
}

/** The part of the band before Pointsman started, in percent: nothing is known of it. */
export function unknownPercent(startedAt: number, now: number): number {
  return Math.min(100, percent(startedAt, now));
}

/** For a ticket: one line for each span, in UTC. */
export function copyOf(spans: readonly SpanDocument[]): string {
  return spans
    .map(({ from, to, text, incident_id: id }) => {
      const until = to === null ? 'now' : dateText(to);
      return `${dateText(from)} to ${until} UTC: ${text}${id === null ? '' : ` (incident ${id})`}`;
    })
    .join('\n');
}

function percent(at: number, now: number): number {
  return Math.max(0, ((at - now + HOUR_MS) / HOUR_MS) * 100);
}
