// A line of the log before it is written.

export type LineLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace';

export interface LogLine {
  readonly level: LineLevel;
  /** Makes the sentence. Lazy, because most levels are off. */
  readonly text: () => string;
}

export function line(level: LineLevel, text: () => string): LogLine {
  return { level, text };
}
