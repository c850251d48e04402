// Collects the body of one answer in one buffer. Many tiny chunks kept as objects would take a hundred times their
// bytes, and a hostile member sends them at no cost.

/** Largest body read. The status document of a cluster with many replicas has a few kilobytes. */
const MAX_BYTES = 256 * 1024;
/** Limit on chunks of one body. A body of the largest size then has chunks of 64 bytes on average. */
const MAX_CHUNKS = 4096;
const FIRST_BYTES = 4 * 1024;

export class AnswerBody {
  #bytes = Buffer.alloc(0);
  #length = 0;
  #chunks = 0;

  /** Copies the chunk. Returns the exceeded limit as one clause; undefined while there is none. */
  add(chunk: Uint8Array): string | undefined {
    const length = this.#length + chunk.length;
    this.#chunks += 1;
    if (length > MAX_BYTES) return `more than ${MAX_BYTES} bytes`;
    if (this.#chunks > MAX_CHUNKS) return `more than ${MAX_CHUNKS} chunks`;
    this.#growTo(length);
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
    return undefined;
  }

  text(): string {
    return this.#bytes.toString('utf8', 0, this.#length);
  }

  #growTo(length: number): void {
    if (length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(FIRST_BYTES, length, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
