// The one listener of the shells' events: each becomes a log line and a metric. Never throws into its caller: telling must
// not break what is told about.
import type { MonitorEvent, ProxyEvent, ReloadEvent, WorkerEvent } from '../core/events.ts';
import { onOneLine } from '../core/shown.ts';
import { logLine } from './log-lines.ts';
import type { Log } from './log.ts';

export type Event = ProxyEvent | WorkerEvent | MonitorEvent | ReloadEvent;

export interface RecorderOptions {
  readonly log: Log;
  /** Counts the event; see event-metrics.ts. */
  readonly count: (event: Event) => void;
  /** Somebody else who wants to know. */
  readonly narrate?: ((event: Event) => void) | undefined;
}

export interface Recorder {
  readonly onProxyEvent: (event: ProxyEvent | WorkerEvent) => void;
  readonly onMonitorEvent: (event: MonitorEvent) => void;
  readonly onReload: (event: ReloadEvent) => void;
}

export function createRecorder({ log, count, narrate }: RecorderOptions): Recorder {
  let wasDiscovered: boolean | undefined;
  const record = (event: Event): void => {
    try {
      count(event);
      const isDiscovered = event.kind === 'discovery-finished' ? event.detail === undefined : wasDiscovered;
      const { level, text } = logLine(event, isDiscovered !== wasDiscovered);
      wasDiscovered = isDiscovered;
      if (log.isLevelEnabled(level)) {
        const { kind, ...fields } = event;
        log[level]({ event: kind, ...fields }, onOneLine(text()));
      }
      narrate?.(event);
    } catch (error) {
      log.error({ event: 'record-failed', of: event.kind, err: error }, 'an event could not be recorded');
    }
  };
  return { onProxyEvent: record, onMonitorEvent: record, onReload: record };
}
