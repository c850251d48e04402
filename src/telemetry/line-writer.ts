// Writes lines to a file descriptor without blocking: one write at a time, the rest in memory up to a limit. Lines
// beyond the limit are dropped and counted. A full disk is retried; a closed pipe ends the writing. (pino's own stream
// retries a closed pipe for ever when the process flushes it at its end.)
import { write as fsWrite } from 'node:fs';

type WriteDone = (error: NodeJS.ErrnoException | null, bytes: number) => void;

export interface LineWriterOptions {
  readonly fd: number;
  readonly mostBufferedBytes: number;
  /** Called when writing has caught up after dropped lines. */
  readonly onDropped: (lines: number) => void;
  /** Called at most once, at the first write that fails for another reason than a slow reader. */
  readonly onFailing: (error: NodeJS.ErrnoException) => void;
  readonly write?: (fd: number, data: Buffer, done: WriteDone) => void;
}

/** Retry delays: slow reader, and full disk. */
const RETRY_MS = 50;
const RETRY_FAILED_MS = 1000;
const FLUSH_MS = 1000;

/** The reader is gone for good. */
const ENDED: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EBADF', 'ECONNRESET']);

export class LineWriter {
  readonly #options: LineWriterOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Dropped lines: not yet reported, and in total. */
  #unreported = 0;
  #dropped = 0;
  #isWriting = false;
  #isBroken = false;
  #hasFailed = false;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Lines lost since the start. */
  dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (this.#isBroken) return this.#drop(1);
    const data = Buffer.from(line);
    if (this.#waitingBytes + data.length > this.#options.mostBufferedBytes) return this.#drop(1);
    this.#waiting.push(data);
    this.#waitingBytes += data.length;
    if (!this.#isWriting) this.#next();
    return undefined;
  }

  /** Resolves when everything is written, the reader is gone, or a second has passed. Never rejects. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#isWriting) return resolve();
      const timer = setTimeout(resolve, FLUSH_MS);
      this.#onIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #next(): void {
    if (this.#waiting.length === 0) this.#reportDropped();
    const data = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (data.length > 0) this.#send(data);
    else if (!this.#isWriting) this.#idle();
  }

  /** The callback may write a line. */
  #reportDropped(): void {
    const lines = this.#unreported;
    this.#unreported = 0;
    if (lines > 0) this.#options.onDropped(lines);
  }

  #send(data: Buffer): void {
    const { fd, write = fsWrite } = this.#options;
    this.#isWriting = true;
    write(fd, data, (error, bytes) => {
      if (error !== null) return this.#failed(error, data);
      if (bytes < data.length) return this.#send(data.subarray(bytes));
      this.#isWriting = false;
      return this.#next();
    });
  }

  #failed(error: NodeJS.ErrnoException, data: Buffer): void {
    // EAGAIN: a non-blocking pipe with a slow reader.
    if (error.code === 'EAGAIN') return this.#sendIn(RETRY_MS, data);
    if (!this.#hasFailed) this.#options.onFailing(error);
    this.#hasFailed = true;
    if (!ENDED.has(error.code)) return this.#sendIn(RETRY_FAILED_MS, data);
    this.#isWriting = false;
    this.#isBroken = true;
    this.#drop(linesIn(data) + this.#waiting.length);
    this.#waiting = [];
    return this.#idle();
  }

  #sendIn(delayMs: number, data: Buffer): void {
    setTimeout(() => this.#send(data), delayMs);
  }

  #drop(lines: number): void {
    this.#unreported += lines;
    this.#dropped += lines;
  }

  #idle(): void {
    for (const run of this.#onIdle.splice(0)) run();
  }
}

function linesIn(data: Buffer): number {
  return data.toString('latin1').split('\n').length - 1;
}
