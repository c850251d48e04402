// The log: one JSON object per line, or a readable line on a terminal. Writing never blocks the event loop and never
// ends the program: with a slow reader or a full disk, lines beyond a limit are dropped.
import { pino, type DestinationStream, type Level } from 'pino';
import { LineWriter } from './line-writer.ts';
import { terminalLine } from './terminal-line.ts';

export type WriteLine = (fields: object, text?: string) => void;

/** The part of a pino logger that is used. */
export interface Log extends Readonly<Record<'error' | 'warn' | 'info' | 'debug' | 'trace', WriteLine>> {
  level: string;
  readonly isLevelEnabled: (level: string) => boolean;
}

export interface LogOptions {
  readonly level: Level;
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  readonly isTerminal: boolean;
  /** Pretty lines have colour. Default: on a terminal. */
  readonly colour?: boolean;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
  /** Called at most once, when the log cannot be written. */
  readonly onFailing?: (error: NodeJS.ErrnoException) => void;
}

export interface OpenLog {
  readonly log: Log;
  /** Writes at level info, whatever the level of the log. */
  readonly access: WriteLine;
  /** Resolves when every line is written, or after a second. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Lines that could not be written, since the start. */
  readonly dropped: () => number;
}

const STDOUT = 1;
const MOST_BUFFERED_BYTES = 8 * 1024 * 1024;

export function createLog(chosen: LogOptions): OpenLog {
  const { level, format, isTerminal, colour = isTerminal, destination, onFailing = () => {} } = chosen;
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
    // The platform adds process id and host name.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const pretty: DestinationStream = {
    write: (line) => stream.write(terminalLine(line, colour, log.isLevelEnabled('debug'))),
  };
  const log = pino(options, isPretty ? pretty : stream);
  // Not a child of `log`, which would take over a changed level.
  const accessLog = pino({ ...options, level: 'info' }, isPretty ? pretty : stream);
  const tell = (lines: number): void =>
    log.warn({ event: 'log_dropped', lines }, 'log lines were lost because the log could not be written');
  return {
    log,
    access: (fields, text) => accessLog.info(fields, text),
    flush: () => standard?.flush() ?? Promise.resolve(),
    dropped: () => standard?.dropped() ?? 0,
  };
}
