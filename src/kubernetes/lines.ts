// Reads a stream of lines in chunks of any size, as a watch sends JSON documents. A line has a limit.
import { AnswerBody } from '../http/answer-body.ts';
import { ExchangeError } from '../http/exchange-error.ts';

export class LineReader {
  readonly #maxBytes: number;
  /** The line so far. Undefined: between two lines. */
  #line: AnswerBody | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in the chunk, each without its end. Throws for a line above the limit. */
  *take(chunk: Uint8Array): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      const line = this.#add(chunk.subarray(from, end)).text();
      this.#line = undefined;
      from = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  isWithinLine(): boolean {
    return this.#line !== undefined;
  }

  #add(part: Uint8Array): AnswerBody {
    const line = (this.#line ??= new AnswerBody(this.#maxBytes));
    const excess = line.add(part);
    if (excess !== undefined) throw new ExchangeError('oversized', `an object of ${excess}`);
    return line;
  }
}
