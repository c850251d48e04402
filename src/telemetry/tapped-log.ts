// The log, with a listener for its lines of level info and above, whatever level is written.
import type { Log } from './log.ts';

export interface TappedLine {
  readonly level: 'info' | 'warn' | 'error';
  /** With `event`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** `onLine` must not throw. */
export function tapped(log: Log, onLine: (line: TappedLine) => void): Log {
  const write =
    (level: TappedLine['level']) =>
    (fields: object, text = ''): void => {
      onLine({ level, fields: Object.fromEntries(Object.entries(fields)), text });
      log[level](fields, text);
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
