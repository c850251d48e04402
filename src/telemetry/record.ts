// The listener of all events: each takes its number and becomes a log line and a metric. Never throws into its caller.
import type { Clock, Instant } from '../model/instant.ts';
import type { EventIds } from '../reports/event-ids.ts';
import { onOneLine } from '../model/printable.ts';
import type { LogLine } from './line.ts';
import { logFields } from './log-fields.ts';
import { logLine, repeatText, type Event } from './log-lines.ts';
import type { Log } from './log.ts';
import { MoveBatches } from './move-batches.ts';
import { News } from './news.ts';
import { Repeats } from './repeats.ts';

export interface RecorderOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: EventIds;
  /** Counts the event; see event-metrics.ts. */
  readonly count: (event: Event) => void;
  /** Called with each event, its number, and when it happened. */
  readonly observe?: ((event: Event, number: number, at: Instant) => void) | undefined;
}

export interface Recorder {
  /** `at`: when it happened, if that was before this call. */
  readonly record: (event: Event, at?: Instant) => void;
  /** Writes the counts of repeated lines, and of moves that are not over. */
  readonly stop: () => void;
}

export function createRecorder({ log, clock, ids, count, observe }: RecorderOptions): Recorder {
  const news = new News();
  const repeats = new Repeats(clock);
  const write = (event: Event, number: number, { level, text }: LogLine): void => {
    if (!log.isLevelEnabled(level)) return;
    const { kind } = event;
    // At debug level every line is wanted.
    const repeat = log.isLevelEnabled('debug') ? undefined : repeatText(event);
    const report = (repeated: number): void =>
      log[level]({ event: 'repeated', of: kind, ...repeat?.fields, count: repeated }, repeat?.text(repeated));
    if (repeat === undefined || repeats.isFirst(repeat.key, report))
      log[level]({ event: kind, event_id: ids.idOf(number), ...logFields(event) }, onOneLine(text()));
  };
  const record = (event: Event, at = clock.now()): void => {
    const number = ids.next();
    try {
      count(event);
      write(event, number, logLine(event, news.take(event)));
      observe?.(event, number, at);
      batches.take(event, at);
    } catch (error) {
      log.error({ event: 'record_failed', of: event.kind, err: error }, 'cannot record an event');
    }
  };
  const batches = new MoveBatches(clock, record);
  return {
    record,
    stop: () => {
      batches.stop();
      repeats.stop();
    },
  };
}
