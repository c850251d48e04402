// Reads a stream of lines in chunks of any size, as a watch sends JSON documents. A line has a limit.
import { ExchangeError } from '../http/exchange-error.ts';

export class LineReader {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in the chunk, each without its end. Throws for a line above the limit. */
  *take(chunk: Uint8Array): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(from, end)]).toString('utf8');
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
      if (line.trim() !== '') yield line;
    }
    this.#parts.push(chunk.subarray(from));
    this.#length += chunk.length - from;
    if (this.#length > this.#maxBytes) {
      throw new ExchangeError('oversized', `an object of more than ${this.#maxBytes} bytes`);
    }
  }

  isWithinLine(): boolean {
    return this.#length > 0;
  }
}
