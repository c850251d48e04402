// Lines to a file descriptor without ever waiting for its reader: one write at a time, the rest in memory up to a bound, lines
// beyond it dropped and counted. A closed pipe ends the writing and nothing else. (The stream that pino brings retries a
// closed pipe for ever when it is flushed at the end of the process.)
import { write as fsWrite } from 'node:fs';

type Done = (error: NodeJS.ErrnoException | null, bytes: number) => void;

export interface LineWriterOptions {
  readonly fd: number;
  readonly mostBufferedBytes: number;
  /** Called once the reader has caught up after lines were dropped. */
  readonly onDropped: (lines: number) => void;
  readonly write?: (fd: number, data: Buffer, done: Done) => void;
}

const RETRY_MS = 50;
const FLUSH_MS = 1000;

export class LineWriter {
  readonly #options: LineWriterOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #isWriting = false;
  #isBroken = false;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  write(line: string): void {
    if (this.#isBroken) return;
    const data = Buffer.from(line);
    if (this.#waitingBytes + data.length > this.#options.mostBufferedBytes) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(data);
    this.#waitingBytes += data.length;
    if (!this.#isWriting) this.#next();
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
    const lines = this.#dropped;
    this.#dropped = 0;
    if (lines > 0) this.#options.onDropped(lines);
  }

  #send(data: Buffer): void {
    const { fd, write = fsWrite } = this.#options;
    this.#isWriting = true;
    write(fd, data, (error, bytes) => {
      // A non-blocking pipe whose reader is slow says so by EAGAIN.
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#send(data), RETRY_MS);
        return;
      }
      if (error === null && bytes < data.length) {
        this.#send(data.subarray(bytes));
        return;
      }
      this.#isWriting = false;
      if (error === null) this.#next();
      else this.#break();
    });
  }

  #break(): void {
    this.#isBroken = true;
    this.#waiting = [];
    this.#idle();
  }

  #idle(): void {
    for (const run of this.#onIdle.splice(0)) run();
  }
}
