// Standard output and standard error of a command. A pipe takes what it has room for and the rest later, so the process
// must not end before `finish`.
import { EXIT, type CliIo } from '../cli/io.ts';

export interface CommandOutput extends Pick<CliIo, 'stdout' | 'stderr'> {
  readonly onOutputLost: NonNullable<CliIo['onOutputLost']>;
  /**
   * Resolves with the exit code when everything is written, or cannot be: 1 if the output could not be written. A
   * reader that went away, such as `head`, is no failure.
   */
  readonly finish: (code: number) => Promise<number>;
}

/** A pipe without a reader, and a socket whose other end is closed. */
const READER_GONE: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET'];

export function commandOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): CommandOutput {
  const listeners = new Set<() => void>();
  /** The first failure of standard output; later ones follow from it. */
  let lost: NodeJS.ErrnoException | undefined;
  const onLost = (error: NodeJS.ErrnoException): void => {
    if (lost !== undefined) return;
    lost = error;
    for (const listener of listeners) listener();
  };
  const out = writerTo(stdout, onLost);
  // Nobody can be told that standard error is gone: the exit code is what is left.
  const err = writerTo(stderr, () => {});
  return {
    stdout: out.write,
    stderr: err.write,
    onOutputLost: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async finish(code) {
      await out.written();
      const failure = lost === undefined || READER_GONE.includes(lost.code) ? undefined : lost;
      if (failure !== undefined) err.write(`pointsman: the output could not be written: ${failure.message}\n`);
      await err.written();
      return failure === undefined ? code : EXIT.failure;
    },
  };
}

interface Writer {
  readonly write: (text: string) => void;
  /** Resolves when all of it is written, or has failed. */
  readonly written: () => Promise<void>;
}

function writerTo(stream: NodeJS.WriteStream, onError: (error: Error) => void): Writer {
  let last: Promise<void> | undefined;
  return {
    write(text) {
      // At the first write: the log of `run` has a way of its own. The callback has the same error, and in order.
      if (last === undefined) stream.on('error', () => {});
      last = new Promise((resolve) => {
        stream.write(text, (error) => {
          if (error) onError(error);
          resolve();
        });
      });
    },
    async written() {
      await last;
    },
  };
}
