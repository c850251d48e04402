// The program's log: one JSON object per line, or a readable line on a terminal. Writing never blocks the event loop and
// never ends the program: when the reader does not keep up, lines are dropped beyond a bound.
import { pino } from 'pino';
import type { DestinationStream, Level, Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';

export type Log = Logger;

export interface LogOptions {
  readonly level: Level;
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  readonly isTerminal: boolean;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

export interface OpenLog {
  readonly log: Log;
  /** Writes out what is buffered, synchronously: the last thing before the process ends. Never throws. */
  readonly flush: () => void;
}

const STDOUT = 1;
const MOST_BUFFERED_BYTES = 8 * 1024 * 1024;

export function createLog({ level, format, isTerminal, destination }: LogOptions): OpenLog {
  const { stream, flush } = destination === undefined ? standardOutput() : { stream: destination, flush: () => {} };
  const isPretty = format === 'pretty' || (format === 'auto' && isTerminal);
  const options = {
    level,
    // Process id and host name are the platform's to add.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return { log: pino(options, isPretty ? prettily(stream, isTerminal) : stream), flush };
}

/** In the same step, unlike pino-pretty's own stream: flush() then leaves no line behind. */
function prettily(stream: DestinationStream, isTerminal: boolean): DestinationStream {
  const render = prettyFactory({
    colorize: isTerminal,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'event',
    singleLine: true,
  });
  return { write: (line) => stream.write(render(line)) };
}

function standardOutput(): { readonly stream: DestinationStream; readonly flush: () => void } {
  const stream = pino.destination({ dest: STDOUT, sync: false, maxLength: MOST_BUFFERED_BYTES });
  // A closed pipe ends the log, not the sessions.
  stream.on('error', () => {});
  const flush = (): void => {
    try {
      stream.flushSync();
    } catch {
      // Nowhere left to say so.
    }
  };
  return { stream, flush };
}
