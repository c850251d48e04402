// The bytes that come out of one socket, read into buffers of ours instead of one that Node allocates for each read. As long as nobody
// takes them they come out of the socket as `data`, like any other's. Who takes them may write them to another socket without a copy:
// nothing more is read while that one waits for the kernel to take them, for the next read goes into the same buffer.
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { isLarge, isLittle, largeBuffers, smallBuffer } from './read-buffers.ts';

/** The bytes are the taker's until it returns, and until the sink has written them. False: no more before the socket asks itself. */
export type Take = (bytes: Buffer) => unknown;

const EMPTY = Buffer.alloc(0);
const discard: Take = () => true;

export class Inflow {
  /** As `net.Socket` wants it (its public option `onread`). */
  readonly onread: {
    readonly buffer: () => Uint8Array;
    readonly callback: (length: number, buffer: Uint8Array) => boolean;
  };
  #buffer = smallBuffer();
  /** What the last read filled of `#buffer`: exchanges repeat, and so do their lengths. */
  #filled: Buffer = EMPTY;
  #sink: Socket | undefined;
  #take: Take = discard;
  /** While the stream flows its buffer may be a large one. */
  #isFlowing = false;

  constructor() {
    this.onread = {
      buffer: () => this.#next(),
      callback: (length, buffer) => {
        if (this.#filled.length !== length) this.#filled = Buffer.from(buffer.buffer, buffer.byteOffset, length);
        return this.#take(this.#filled) !== false && !this.#isInUse();
      },
    };
  }

  /** The bytes come out of `socket` as `data`, copied. */
  pushTo(socket: Socket): void {
    this.#take = (bytes) => socket.push(Buffer.from(bytes));
  }

  /** The relay has begun, and takes them as `data`. */
  flow(): void {
    this.#isFlowing = true;
  }

  /** The relay has begun, and takes them as they are read; what arrived before is `data`. It resumes the socket when `sink` has drained. */
  flowInto(sink: Socket, take: Take): void {
    this.#isFlowing = true;
    this.#sink = sink;
    this.#take = take;
  }

  /** What comes from now on is thrown away. */
  discard(): void {
    this.#take = discard;
  }

  /** The socket and whoever took its bytes are closed: nothing is read or written any more. */
  closed(): void {
    if (isLarge(this.#buffer)) largeBuffers.giveBack(this.#buffer);
    this.#leave();
  }

  /** Another one has the socket now, who may go on reading it and discards what comes. */
  abandon(): void {
    if (isLarge(this.#buffer)) largeBuffers.forget();
    this.#leave();
  }

  #leave(): void {
    this.#isFlowing = false;
    this.#sink = undefined;
    this.#take = discard;
  }

  /** The buffer, or what it held, is still to be written. */
  #isInUse(): boolean {
    return this.#sink !== undefined && this.#sink.writableLength > 0;
  }

  /** Asked for at first, and after each read: where the next one goes. */
  #next(): Buffer {
    const buffer = this.#buffer;
    if (!this.#isFlowing || this.#isInUse() || suits(buffer, this.#filled.length)) return buffer;
    if (isLarge(buffer)) largeBuffers.giveBack(buffer);
    this.#filled = EMPTY;
    this.#buffer = isLarge(buffer) ? smallBuffer() : largeBuffers.borrow();
    return this.#buffer;
  }
}

function suits(buffer: Buffer, length: number): boolean {
  if (!isLarge(buffer)) return length < buffer.length;
  return length === buffer.length || (!isLittle(length) && largeBuffers.mayRest());
}
