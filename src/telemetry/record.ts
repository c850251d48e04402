// The one listener of the shells' events: each becomes a log line and a metric. Never throws into its caller: telling must
// not break what is told about.
import type { Clock } from '../model/instant.ts';
import type { MonitorEvent, ProxyEvent, ReloadEvent, WorkerEvent } from '../reports/events.ts';
import { onOneLine } from '../model/printable.ts';
import { logLine, repeatText } from './log-lines.ts';
import type { LogLine } from './log-lines.ts';
import type { Log } from './log.ts';
import { Repeats } from './repeats.ts';

export type Event = ProxyEvent | WorkerEvent | MonitorEvent | ReloadEvent;

export interface RecorderOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Counts the event; see event-metrics.ts. */
  readonly count: (event: Event) => void;
  /** Somebody else who wants to know. */
  readonly narrate?: ((event: Event) => void) | undefined;
}

export interface Recorder {
  readonly onProxyEvent: (event: ProxyEvent | WorkerEvent) => void;
  readonly onMonitorEvent: (event: MonitorEvent) => void;
  readonly onReload: (event: ReloadEvent) => void;
  /** Writes what was counted of repeated lines. */
  readonly stop: () => void;
}

export function createRecorder({ log, clock, count, narrate }: RecorderOptions): Recorder {
  let wasDiscovered: boolean | undefined;
  const repeats = new Repeats(clock);
  const write = (event: Event, { level, text }: LogLine): void => {
    if (!log.isLevelEnabled(level)) return;
    const { kind, ...fields } = event;
    // Who reads at this level wants each of them.
    const repeat = log.isLevelEnabled('debug') ? undefined : repeatText(event);
    const tell = (repeated: number): void =>
      log[level]({ event: 'repeated', of: kind, ...repeat?.fields, count: repeated }, repeat?.text(repeated));
    if (repeat === undefined || repeats.isFirst({ key: repeat.key, tell }))
      log[level]({ event: kind, ...fields }, onOneLine(text()));
  };
  const record = (event: Event): void => {
    try {
      count(event);
      const isDiscovered = event.kind === 'discovery_finished' ? event.detail === undefined : wasDiscovered;
      const line = logLine(event, isDiscovered !== wasDiscovered);
      wasDiscovered = isDiscovered;
      write(event, line);
      narrate?.(event);
    } catch (error) {
      log.error({ event: 'record_failed', of: event.kind, err: error }, 'an event could not be recorded');
    }
  };
  return { onProxyEvent: record, onMonitorEvent: record, onReload: record, stop: () => repeats.stop() };
}
