// Owns the buffers that sockets are read into, and those that copies are written from. All sockets share one small
// buffer, so that ten thousand idle sessions cost little: what was read is used up before the next read of any socket.
// A socket with more to read is lent a large one. A large buffer that was given back is lent again; a buffer that
// something may still use is not.
import { Buffer } from 'node:buffer';

/** Holds a query, or an answer of a row or two. */
const SMALL_BYTES = 1024;
const LARGE_BYTES = 128 * 1024;
/** While more large buffers are lent, a socket may not keep one between two reads. */
const MOST_RESTING = 64;
/** Free large buffers that are kept for later; the garbage collector has the others. */
const MOST_FREE = 32;

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

/** All sessions use it, so it has a view of each length. */
class SharedBuffer extends ReadBuffer {
  /** By length. */
  readonly #views: Uint8Array[] = [];

  constructor() {
    super(SMALL_BYTES);
  }

  override filled(length: number): Uint8Array {
    return (this.#views[length] ??= new Uint8Array(this.bytes.buffer, 0, length));
  }
}

class ReadBuffers {
  readonly #shared = new SharedBuffer();
  readonly #memory = this.#shared.bytes.buffer;
  readonly #large: ReadBuffer[] = [];
  #outgoing = new SharedBuffer();
  #lent = 0;

  /** The one that all sockets share. Its bytes stay until the receiver of a read returns. */
  small(): ReadBuffer {
    return this.#shared;
  }

  large(): ReadBuffer {
    this.#lent += 1;
    return this.#large.pop() ?? new ReadBuffer(LARGE_BYTES);
  }

  /** A small buffer that belongs to the caller. */
  own(): ReadBuffer {
    return new ReadBuffer(SMALL_BYTES);
  }

  /** Whether `bytes` are in the shared buffer. */
  isShared(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory;
  }

  /** A copy of bytes in the shared buffer, to write from. When the kernel does not take it at once, call `outWaits`. */
  out(bytes: Uint8Array): Uint8Array {
    this.#outgoing.bytes.set(bytes);
    return this.#outgoing.filled(bytes.length);
  }

  /** The newest copy is written later, so the next one is made elsewhere. */
  outWaits(): void {
    this.#outgoing = new SharedBuffer();
  }

  /**
   * Picks the buffer for the next read, after a read of `length` bytes: the same one, or one of a better size in
   * exchange for it. Nothing may use the old one.
   */
  next(buffer: ReadBuffer, length: number): ReadBuffer {
    const isFull = length === buffer.bytes.length;
    if (!buffer.isLarge) return isFull ? this.large() : buffer;
    if (isFull || (length > SMALL_BYTES && this.#lent <= MOST_RESTING)) return buffer;
    this.giveBack(buffer);
    return this.small();
  }

  /** Nothing reads into the buffer nor writes from it any more: it may be lent again. */
  giveBack(buffer: ReadBuffer): void {
    if (!buffer.isLarge) return;
    this.#lent -= 1;
    if (this.#large.length < MOST_FREE) this.#large.push(buffer);
  }

  /** Leaves the free buffers to the garbage collector. */
  drop(): void {
    this.#large.length = 0;
  }

  /** The kernel may still read from the buffer, so it is never lent again. */
  forget(buffer: ReadBuffer): void {
    if (buffer.isLarge) this.#lent -= 1;
  }
}

/** One for the process, so that all sessions share the buffers. See README.md for why this is safe. */
export const readBuffers = new ReadBuffers();
