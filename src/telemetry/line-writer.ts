// Lines to a file descriptor without ever waiting for its reader: one write at a time, the rest in memory up to a
// bound. Lines beyond the bound are dropped and counted. A full disk is tried again until it has room; a closed pipe
// ends the writing. (The stream that pino brings retries a closed pipe for ever when it is flushed at the end of the
// process.)
import { write as fsWrite } from 'node:fs';

type Done = (error: NodeJS.ErrnoException | null, bytes: number) => void;

export interface LineWriterOptions {
  readonly fd: number;
  readonly mostBufferedBytes: number;
  /** Called once writing has caught up after lines were dropped. */
  readonly onDropped: (lines: number) => void;
  /** Called at the first write that failed for another reason than a slow reader. At most once. */
  readonly onFailing: (error: NodeJS.ErrnoException) => void;
  readonly write?: (fd: number, data: Buffer, done: Done) => void;
}

/** After a reader that was slow, and after a disk that was full. */
const RETRY_MS = 50;
const RETRY_FAILED_MS = 1000;
const FLUSH_MS = 1000;

/** Nobody will ever read what is written. */
const ENDED: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EBADF', 'ECONNRESET']);

export class LineWriter {
  readonly #options: LineWriterOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Since the number was last told, and in all. */
  #untold = 0;
  #dropped = 0;
  #isWriting = false;
  #isBroken = false;
  #hasFailed = false;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Lines that were not and will not be written, since the start. */
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

  /** Resolves when everything is written, the reader is gone, or after a second. Never rejects. */
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
    if (this.#waiting.length === 0) this.#tellDropped();
    const data = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (data.length > 0) this.#send(data);
    else if (!this.#isWriting) this.#idle();
  }

  /** May write a line itself. */
  #tellDropped(): void {
    const lines = this.#untold;
    this.#untold = 0;
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
    // A non-blocking pipe whose reader is slow says so by EAGAIN.
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
    this.#untold += lines;
    this.#dropped += lines;
  }

  #idle(): void {
    for (const run of this.#onIdle.splice(0)) run();
  }
}

function linesIn(data: Buffer): number {
  return data.toString('latin1').split('\n').length - 1;
}
