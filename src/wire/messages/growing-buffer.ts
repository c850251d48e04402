// Bytes that wait, in one piece and in memory of their own: a chunk of a socket may be a small part of a large slab.
const NOTHING = new Uint8Array(0);

export class GrowingBuffer {
  #buffer: Uint8Array = NOTHING;
  #length = 0;

  length(): number {
    return this.#length;
  }

  /** Valid until the next change. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Doubles the buffer, so that a client that sends one byte at a time costs linear time. */
  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.bytes());
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** Bytes that were taken before stay as they are. */
  clear(): void {
    this.#buffer = NOTHING;
    this.#length = 0;
  }
}
