// Owns the buffers that sockets are read into. Each socket has a small one, so that ten thousand idle sessions cost
// little. A socket with more to read is lent a large one. A buffer that was given back is lent again; a buffer that
// something may still use is not.
import { Buffer } from 'node:buffer';

/** Holds a query, or an answer of a row or two. */
const SMALL_BYTES = 1024;
const LARGE_BYTES = 128 * 1024;
/** While more large buffers are lent, a socket may not keep one between two reads. */
const MOST_RESTING = 64;
/** Free buffers that are kept for later; the garbage collector has the others. */
const MOST_FREE_SMALL = 1024;
const MOST_FREE_LARGE = 32;

const NOTHING: Uint8Array = new Uint8Array(0);

export class ReadBuffer {
  readonly bytes: Uint8Array;
  readonly isLarge: boolean;
  /** The last view: exchanges repeat, and so do their lengths. */
  #filled = NOTHING;

  constructor(length: number) {
    this.bytes = Buffer.allocUnsafeSlow(length);
    this.isLarge = length > SMALL_BYTES;
  }

  /** A view of the first `length` bytes. */
  filled(length: number): Uint8Array {
    if (this.#filled.length !== length) this.#filled = new Uint8Array(this.bytes.buffer, 0, length);
    return this.#filled;
  }
}

class ReadBuffers {
  readonly #small: ReadBuffer[] = [];
  readonly #large: ReadBuffer[] = [];
  #lent = 0;

  small(): ReadBuffer {
    return this.#small.pop() ?? new ReadBuffer(SMALL_BYTES);
  }

  large(): ReadBuffer {
    this.#lent += 1;
    return this.#large.pop() ?? new ReadBuffer(LARGE_BYTES);
  }

  /**
   * Picks the buffer for the next read, after a read of `length` bytes: the same one, or one of a better size in
   * exchange for it. Nothing may use the old one.
   */
  next(buffer: ReadBuffer, length: number): ReadBuffer {
    const isFull = length === buffer.bytes.length;
    if (!buffer.isLarge) {
      if (!isFull) return buffer;
      this.giveBack(buffer);
      return this.large();
    }
    if (isFull || (length > SMALL_BYTES && this.#lent <= MOST_RESTING)) return buffer;
    this.giveBack(buffer);
    return this.small();
  }

  /** Nothing reads into the buffer nor writes from it any more: it may be lent again. */
  giveBack(buffer: ReadBuffer): void {
    if (buffer.isLarge) this.#lent -= 1;
    const [free, most] = buffer.isLarge ? [this.#large, MOST_FREE_LARGE] : [this.#small, MOST_FREE_SMALL];
    if (free.length < most) free.push(buffer);
  }

  /** Leaves the free buffers to the garbage collector. */
  drop(): void {
    this.#small.length = 0;
    this.#large.length = 0;
  }

  /** The kernel may still read from the buffer, so it is never lent again. */
  forget(buffer: ReadBuffer): void {
    if (buffer.isLarge) this.#lent -= 1;
  }
}

/** One for the process, so that all sessions share the free buffers. See README.md for why this is safe. */
export const readBuffers = new ReadBuffers();
