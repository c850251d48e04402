// The log, with a listener for its lines of level info and above, whatever level is written. Each of these lines has
// the number of its event; a line without an event takes a number here.
import type { EventIds } from '../reports/event-ids.ts';
import type { Log } from './log.ts';

export interface TappedLine {
  readonly level: 'info' | 'warn' | 'error';
  /** With `event`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The number of its event. */
  readonly number: number;
}

/** `onLine` must not throw. */
export function tapped(log: Log, ids: EventIds, onLine: (line: TappedLine) => void): Log {
  const write =
    (level: TappedLine['level']) =>
    (fields: object, text = ''): void => {
      const own: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(fields));
      const known = typeof own['event_id'] === 'string' ? ids.numberOf(own['event_id']) : undefined;
      const number = known ?? ids.next();
      const { event, event_id: _, ...rest } = own;
      const line = { ...(event === undefined ? {} : { event }), event_id: ids.idOf(number), ...rest };
      onLine({ level, fields: line, text, number });
      log[level](line, text);
    };
  return {
    get level() {
      return log.level;
    },
    set level(level) {
      log.level = level;
    },
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    debug: (fields, text) => log.debug(fields, text),
    trace: (fields, text) => log.trace(fields, text),
    isLevelEnabled: (level) => level === 'info' || level === 'warn' || level === 'error' || log.isLevelEnabled(level),
  };
}
