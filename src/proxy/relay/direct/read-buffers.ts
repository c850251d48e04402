// What sockets are read into: a small buffer for each, so that ten thousand that rest cost little, and large ones that are lent to
// those that have much to say. One that came back is lent again; one that somebody may still use never is.
import { Buffer } from 'node:buffer';

/** A question, or an answer of a row or two. */
const SMALL_BYTES = 1024;
const LARGE_BYTES = 128 * 1024;
/** While more large ones are lent, who pauses between two reads may not keep one. */
const MOST_RESTING = 64;
/** Kept for whoever is next; the garbage collector has the others. */
const MOST_SPARE_SMALL = 1024;
const MOST_SPARE_LARGE = 32;

const NOTHING: Uint8Array = new Uint8Array(0);

export class ReadBuffer {
  readonly bytes: Uint8Array;
  readonly isLarge: boolean;
  /** Exchanges repeat, and so do their lengths. */
  #filled = NOTHING;

  constructor(length: number) {
    this.bytes = Buffer.allocUnsafeSlow(length);
    this.isLarge = length > SMALL_BYTES;
  }

  /** The first so many bytes. */
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

  /** For who read so many bytes into this one, nobody using either: the same one, or one that suits better, instead of it. */
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

  /** Nobody reads into it nor writes from it any more. */
  giveBack(buffer: ReadBuffer): void {
    if (buffer.isLarge) this.#lent -= 1;
    const [spare, most] = buffer.isLarge ? [this.#large, MOST_SPARE_LARGE] : [this.#small, MOST_SPARE_SMALL];
    if (spare.length < most) spare.push(buffer);
  }

  /** Somebody may still use it. */
  forget(buffer: ReadBuffer): void {
    if (buffer.isLarge) this.#lent -= 1;
  }
}

/** All sockets of this process share them. */
export const readBuffers = new ReadBuffers();
