// A socket as a direct pipe sees it. The test plays the kernel: which bytes can be read, how many are taken at once,
// and when the rest is taken.
import { Socket } from 'node:net';
import type { PipeEnd, HandleSink } from '../../../src/proxy/relay/direct/node-handle.ts';

export class FakePipeEnd implements PipeEnd {
  /** Never connected. */
  readonly socket = new Socket();
  /** False: what is written waits until `takeOne`. */
  takesAtOnce = true;
  isReading = false;
  readonly #taken: Uint8Array[] = [];
  /** The sender's own buffers, as the kernel would read them later. */
  readonly #waiting: Uint8Array[] = [];
  #buffer: Uint8Array | undefined;
  #reader: HandleSink | undefined;
  #onWritten = (): void => {};

  readInto(buffer: Uint8Array, reader: HandleSink): void {
    this.#buffer = buffer;
    this.#reader = reader;
  }

  pause(): void {
    this.isReading = false;
  }

  resume(): void {
    this.isReading = true;
  }

  whenWritten(onWritten: () => void): void {
    this.#onWritten = onWritten;
  }

  write(bytes: Uint8Array): boolean {
    if (this.takesAtOnce && this.#waiting.length === 0) this.#taken.push(Uint8Array.from(bytes));
    else this.#waiting.push(bytes);
    return this.#waiting.length === 0;
  }

  /** The peer of this end said so, and it fits the buffer. */
  hear(text: string): void {
    const [buffer, reader] = [this.#buffer, this.#reader];
    if (buffer === undefined || reader === undefined || !this.isReading) throw new Error('nobody reads');
    buffer.set(Buffer.from(text));
    this.#buffer = reader.read(text.length) ?? this.#buffer;
  }

  /** The kernel takes what has waited longest. */
  takeOne(): void {
    const bytes = this.#waiting.shift();
    if (bytes === undefined) throw new Error('nothing waits');
    this.#taken.push(Uint8Array.from(bytes));
    this.#onWritten();
  }

  /** Everything that the kernel took, in order. */
  taken(): string {
    return Buffer.concat(this.#taken).toString();
  }
}
