// Reads the whole messages of a server in chunks of any size, where Pointsman itself is the client for a moment. The
// bytes after the last message that was asked for stay as they are.
import { GrowingBuffer } from './growing-buffer.ts';
import { HEADER, bodySize } from './header.ts';

/** No message of the protocol is longer: a StringInfo below MaxAllocSize. */
const LONGEST_OF_ALL = 0x3fff_ffff;
const NOTHING = new Uint8Array(0);

export type ReadMessage =
  | {
      readonly kind: 'message';
      /** One character. */
      readonly type: string;
      /** Undefined: longer than the limit, and skipped. */
      readonly body: Uint8Array | undefined;
      /** The whole message; empty when it was skipped. */
      readonly bytes: Uint8Array;
    }
  /** Without a body, as a message that is too long. */
  | { readonly kind: 'invalid'; readonly body?: undefined };

export class MessageReader {
  readonly #longest: number;
  readonly #buffer = new GrowingBuffer();
  /** Bytes of the buffer that messages have taken. */
  #taken = 0;
  /** The bytes to come of a message that is too long. */
  #skip = 0;

  /** `longest`: the most bytes of a body. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The bytes stay with this reader. */
  add(chunk: Uint8Array): void {
    const skipped = Math.min(this.#skip, chunk.length);
    this.#skip -= skipped;
    if (this.#taken > 0) this.#keep(this.rest());
    this.#buffer.append(chunk.subarray(skipped));
  }

  /** Undefined: incomplete. */
  next(): ReadMessage | undefined {
    const bytes = this.rest();
    if (bytes.length < HEADER) return undefined;
    const size = bodySize(bytes);
    if (size < 0 || size > LONGEST_OF_ALL) return { kind: 'invalid' };
    const type = String.fromCharCode(bytes[0] ?? 0);
    const end = HEADER + size;
    if (size > this.#longest) {
      this.#skip = Math.max(0, end - bytes.length);
      this.#taken += Math.min(end, bytes.length);
      return { kind: 'message', type, body: undefined, bytes: NOTHING };
    }
    if (bytes.length < end) return undefined;
    this.#taken += end;
    return { kind: 'message', type, body: bytes.subarray(HEADER, end), bytes: bytes.subarray(0, end) };
  }

  /** Overwrites the bytes that no message has taken. */
  clear(): void {
    this.rest().fill(0);
    this.#keep(NOTHING);
  }

  /** The message that was read last is unread again. */
  putBack(message: Uint8Array): void {
    const rest = this.rest();
    this.#keep(message);
    this.#buffer.append(rest);
  }

  /** The bytes that no message has taken. */
  rest(): Uint8Array {
    return this.#buffer.bytes().subarray(this.#taken);
  }

  /** In memory of its own: the bodies of messages stay as they are. */
  #keep(bytes: Uint8Array): void {
    this.#buffer.clear();
    this.#buffer.append(bytes);
    this.#taken = 0;
  }
}
