// Reads the messages of a client after its startup packet, where Pointsman itself is the server (the console). A
// function of the bytes so far, so the result does not depend on how they were split. Nothing longer than the caller's
// limit is ever waited for.
import { HEADER, LENGTH_WORD, bodySize } from './header.ts';

const DECODER = new TextDecoder();

export type ClientMessage =
  | { readonly kind: 'need_more' }
  /** `length`: its size in bytes. `type`: one character. */
  | { readonly kind: 'message'; readonly length: number; readonly type: string; readonly body: Uint8Array }
  /** The stream cannot be read any further. */
  | { readonly kind: 'invalid'; readonly why: string };

/** The first message in `bytes`. `longest`: the most bytes of its body. */
export function readMessage(bytes: Uint8Array, longest: number): ClientMessage {
  if (bytes.length < HEADER) return { kind: 'need_more' };
  const size = bodySize(bytes);
  if (size < 0) return { kind: 'invalid', why: `invalid message length: ${size + LENGTH_WORD}` };
  if (size > longest) return { kind: 'invalid', why: `a message of ${size} bytes exceeds the limit of ${longest}` };
  const length = HEADER + size;
  if (bytes.length < length) return { kind: 'need_more' };
  const type = String.fromCharCode(bytes[0] ?? 0);
  return { kind: 'message', length, type, body: bytes.subarray(HEADER, length) };
}

/** Reads the fields of a body in their order. A field that is not there is undefined, as are all behind it. */
export class BodyReader {
  readonly #body: Uint8Array;
  #at = 0;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  byte(): string | undefined {
    const byte = this.#body[this.#at];
    this.#at += 1;
    return byte === undefined ? undefined : String.fromCharCode(byte);
  }

  int16(): number | undefined {
    const [high, low] = this.#body.subarray(this.#at, this.#at + 2);
    this.#at += 2;
    return high === undefined || low === undefined ? undefined : (high << 8) | low;
  }

  int32(): number | undefined {
    const [high, low] = [this.int16(), this.int16()];
    return high === undefined || low === undefined ? undefined : (high << 16) | low;
  }

  /** NUL-terminated. */
  text(): string | undefined {
    const end = this.#body.indexOf(0, this.#at);
    if (end === -1) {
      this.#at = this.#body.length + 1;
      return undefined;
    }
    const text = DECODER.decode(this.#body.subarray(this.#at, end));
    this.#at = end + 1;
    return text;
  }

  /** Undefined: fewer bytes are left, or the size is negative. */
  bytes(size: number): Uint8Array | undefined {
    const from = this.#at;
    if (size < 0 || from + size > this.#body.length) return undefined;
    this.#at += size;
    return this.#body.subarray(from, from + size);
  }
}
