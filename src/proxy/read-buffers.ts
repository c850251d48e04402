// What sockets are read into: a small buffer of its own for each, so that ten thousand that rest cost little, and large ones that are
// lent to those that have much to say. One that came back is lent again; one that somebody may still use never is.
import { Buffer } from 'node:buffer';

/** A question, or an answer of a row or two. */
const SMALL_BYTES = 1024;
const LARGE_BYTES = 64 * 1024;
/** While more are lent, who pauses between two reads may not keep one. */
const MOST_RESTING = 64;
/** Kept for whoever is next; the garbage collector has the others. */
const MOST_SPARE = 32;

export function smallBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(SMALL_BYTES);
}

export function isLarge(buffer: Uint8Array): boolean {
  return buffer.length > SMALL_BYTES;
}

/** A small buffer would have done. */
export function isLittle(bytes: number): boolean {
  return bytes <= SMALL_BYTES;
}

class LargeBuffers {
  readonly #spare: Buffer[] = [];
  #lent = 0;

  borrow(): Buffer {
    this.#lent += 1;
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(LARGE_BYTES);
  }

  /** Who has one may keep it although the last read did not fill it. */
  mayRest(): boolean {
    return this.#lent <= MOST_RESTING;
  }

  /** Nobody reads into it nor writes from it any more. */
  giveBack(buffer: Buffer): void {
    this.#lent -= 1;
    if (this.#spare.length < MOST_SPARE) this.#spare.push(buffer);
  }

  /** Somebody may still use it. */
  forget(): void {
    this.#lent -= 1;
  }
}

/** All sockets of this process share them. */
export const largeBuffers = new LargeBuffers();
