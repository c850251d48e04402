// Lines to a file descriptor without ever waiting for its reader: one write at a time, the rest in memory up to a bound, lines
// beyond it dropped and counted. A closed pipe ends the writing and nothing else.
import { write as fsWrite } from 'node:fs';

export interface LineWriterOptions {
  readonly fd: number;
  readonly mostBufferedBytes: number;
  /** Called once the reader has caught up after lines were dropped. */
  readonly onDropped: (lines: number) => void;
  readonly write?: (
    fd: number,
    data: Buffer,
    done: (error: NodeJS.ErrnoException | null, bytes: number) => void,
  ) => void;
}

export interface LineWriter {
  readonly write: (line: string) => void;
  /** Resolves when everything is written, the reader is gone, or `FLUSH_MS` have passed. Never rejects. */
  readonly flush: () => Promise<void>;
}

const RETRY_MS = 50;
const FLUSH_MS = 1000;

export function createLineWriter(options: LineWriterOptions): LineWriter {
  const { fd, mostBufferedBytes, onDropped, write = fsWrite } = options;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let isWriting = false;
  let isBroken = false;
  let onIdle: (() => void)[] = [];

  const idle = (): void => {
    for (const run of onIdle) run();
    onIdle = [];
  };
  const send = (data: Buffer): void => {
    write(fd, data, (error, bytes) => {
      // A non-blocking pipe whose reader is slow says so by EAGAIN.
      if (error?.code === 'EAGAIN') setTimeout(() => send(data), RETRY_MS);
      else if (error === null && bytes < data.length) send(data.subarray(bytes));
      else {
        isWriting = false;
        isBroken = error !== null;
        pump();
      }
    });
  };
  const pump = (): void => {
    if (isWriting) return;
    if (isBroken) waiting = [];
    if (waiting.length > 0) {
      const data = Buffer.concat(waiting);
      waiting = [];
      waitingBytes = 0;
      isWriting = true;
      send(data);
      return;
    }
    const lines = dropped;
    dropped = 0;
    if (lines > 0 && !isBroken) onDropped(lines);
    if (!isWriting) idle();
  };
  return {
    write: (line) => {
      const data = Buffer.from(line);
      if (isBroken) return;
      if (waitingBytes + data.length > mostBufferedBytes) {
        dropped += 1;
        return;
      }
      waiting.push(data);
      waitingBytes += data.length;
      pump();
    },
    flush: () =>
      new Promise((resolve) => {
        if (!isWriting) return resolve();
        const timer = setTimeout(resolve, FLUSH_MS);
        onIdle.push(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
