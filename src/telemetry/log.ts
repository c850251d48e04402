// The program's log: one JSON object per line, or a readable line on a terminal. Writing never blocks the event loop and
// never ends the program: when the reader does not keep up, or the disk is full, lines are dropped beyond a bound.
import { createRequire } from 'node:module';
import { pino } from 'pino';
import type { DestinationStream, Level, Logger } from 'pino';
import type * as PinoPretty from 'pino-pretty';
import { LineWriter } from './line-writer.ts';

export type Log = Logger;

export interface LogOptions {
  readonly level: Level;
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  readonly isTerminal: boolean;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
  /** The log cannot be written. At most once. */
  readonly onFailing?: (error: NodeJS.ErrnoException) => void;
}

export interface OpenLog {
  readonly log: Log;
  /** Resolves when every line is written, or after a second if nobody reads them. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Lines that could not be written, since the start. */
  readonly dropped: () => number;
}

const STDOUT = 1;
const MOST_BUFFERED_BYTES = 8 * 1024 * 1024;

export function createLog({ level, format, isTerminal, destination, onFailing = () => {} }: LogOptions): OpenLog {
  const standard =
    destination === undefined
      ? new LineWriter({
          fd: STDOUT,
          mostBufferedBytes: MOST_BUFFERED_BYTES,
          onDropped: (lines) => tell(lines),
          onFailing,
        })
      : undefined;
  const stream = destination ?? { write: (line: string) => standard?.write(line) };
  const isPretty = format === 'pretty' || (format === 'auto' && isTerminal);
  const options = {
    level,
    // Process id and host name are the platform's to add.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const log = pino(options, isPretty ? prettily(stream, isTerminal) : stream);
  const tell = (lines: number): void =>
    log.warn({ event: 'log_dropped', lines }, 'lines of the log were lost: it could not be written');
  return {
    log,
    flush: () => standard?.flush() ?? Promise.resolve(),
    dropped: () => standard?.dropped() ?? 0,
  };
}

/** In the same step, unlike pino-pretty's own stream: flush() then knows of every line. */
function prettily(stream: DestinationStream, isTerminal: boolean): DestinationStream {
  // Who writes JSON never loads it.
  const { prettyFactory }: typeof PinoPretty = createRequire(import.meta.url)('pino-pretty');
  const render = prettyFactory({
    colorize: isTerminal,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'event',
    singleLine: true,
  });
  return { write: (line) => stream.write(render(line)) };
}
