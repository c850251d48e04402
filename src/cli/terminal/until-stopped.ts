// The end of a command that goes on until it is stopped.
import { EXIT, type CliIo } from '../io.ts';

export interface StopSignal {
  /** Aborted by Ctrl-C, by another signal, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
  /** Stops it, with this exit code. */
  readonly stop: (code: number) => void;
  /** Gives the signals back, and returns the exit code: 0, or 128 and the number of the signal. */
  readonly end: () => number;
}

export function untilStopped({ onInterrupt, onOutputLost }: Pick<CliIo, 'onInterrupt' | 'onOutputLost'>): StopSignal {
  const ending = new AbortController();
  let code: number = EXIT.ok;
  const stop = (given: number): void => {
    if (!ending.signal.aborted) code = given;
    ending.abort();
  };
  const release = [onInterrupt?.(stop), onOutputLost?.(() => stop(EXIT.ok))];
  return {
    signal: ending.signal,
    stop,
    end() {
      for (const undo of release) undo?.();
      return code;
    },
  };
}
