// Collects the body of one answer in one buffer. Many tiny chunks kept as objects would take a hundred times their
// bytes, and a hostile member sends them at no cost.

/** A body of the largest size has chunks of as many bytes on average, at least. */
const CHUNK_BYTES = 64;
const FIRST_BYTES = 4 * 1024;

export class AnswerBody {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);
  #length = 0;
  #chunks = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Copies the chunk. Returns the exceeded limit as one clause; undefined while there is none. */
  add(chunk: Uint8Array): string | undefined {
    const length = this.#length + chunk.length;
    this.#chunks += 1;
    if (length > this.#maxBytes) return `more than ${this.#maxBytes} bytes`;
    const maxChunks = this.#maxBytes / CHUNK_BYTES;
    if (this.#chunks > maxChunks) return `more than ${maxChunks} chunks`;
    this.#growTo(length);
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
    return undefined;
  }

  /** Without a byte order mark. */
  text(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#length));
  }

  #growTo(length: number): void {
    if (length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(FIRST_BYTES, length, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
