// Walks one direction of a PostgreSQL stream after its startup packet, from message header to message header (a type
// byte and a length word that counts itself), in chunks of any size. Reads only the first payload bytes that the
// grammar wants of a few types, and copies them only when two chunks divide them. Stops for good at the first invalid
// header.
import { HEADER, LENGTH_WORD } from '../messages/header.ts';

/** The messages of one direction, as tables over the type byte. Lengths are values of the length word. */
export interface Grammar {
  readonly shortest: Int32Array;
  /** 0: the type does not exist. */
  readonly longest: Int32Array;
  /** How many of the first payload bytes are reported. -1: the message is not reported. */
  readonly wanted: Int32Array;
}

export interface MessageRule {
  /** The type bytes, one character each. */
  readonly types: string;
  readonly shortest?: number;
  readonly longest: number;
  /** Absent: the message is not reported. */
  readonly wanted?: number;
}

export function grammarOf(rules: readonly MessageRule[]): Grammar {
  const shortest = new Int32Array(256).fill(LENGTH_WORD);
  const longest = new Int32Array(256);
  const wanted = new Int32Array(256);
  for (const rule of rules) {
    for (const type of rule.types) {
      const code = type.charCodeAt(0);
      shortest[code] = rule.shortest ?? LENGTH_WORD;
      longest[code] = rule.longest;
      wanted[code] = rule.wanted ?? -1;
    }
  }
  return { shortest, longest, wanted };
}

export abstract class FrameWalker {
  readonly #grammar: Grammar;
  #isFollowing = true;
  /** The type of the current message, or of the last one. */
  #type = 0;
  /** How many bytes of the next header have arrived, and its length so far. */
  #headerFill = 0;
  #length = 0;
  /** Payload bytes to skip. */
  #restBytes = 0;
  /** The wanted bytes of a message that two chunks divide. */
  #held: Uint8Array | undefined;
  #heldFill = 0;

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
  }

  /**
   * Called for a message of a wanted type once its wanted bytes have arrived: `size` bytes from `at`, fewer for a
   * shorter payload. The bytes are valid only during the call. Returns false for an invalid message.
   */
  protected abstract report(type: number, bytes: Uint8Array, at: number, size: number): boolean;

  /** Called for the rest of the payload, in parts, where less was wanted; for a type that is not reported as well. */
  protected reportRest(_type: number, _bytes: Uint8Array, _from: number, _to: number): void {}

  /** False after invalid bytes, for good. */
  isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** The stream is between two messages. */
  isAtBoundary(): boolean {
    return this.#isFollowing && this.#restBytes === 0 && this.#headerFill === 0 && this.#held === undefined;
  }

  /** The type of the current or last message. 0 before the first. */
  latestType(): number {
    return this.#type;
  }

  walk(bytes: Uint8Array): void {
    const at = this.isAtBoundary() ? 0 : this.#resume(bytes);
    if (this.isAtBoundary()) this.#walkMessages(bytes, at);
  }

  /** The header that ended it. */
  invalidHeader(): Uint8Array {
    const length = this.#length;
    return Uint8Array.of(this.#type, length >> 24, length >> 16, length >> 8, length);
  }

  /**
   * As `walk`, but begins no message of a type that `mayBegin` forbids. Returns how many bytes were read, an invalid
   * header included.
   */
  walkWhile(bytes: Uint8Array, mayBegin: (type: number) => boolean): number {
    let at = 0;
    while (at < bytes.length && this.#isFollowing) {
      if (this.isAtBoundary() && !mayBegin(bytes[at] ?? 0)) return at;
      const isInHeader = this.#restBytes === 0 && this.#held === undefined;
      const held = this.#held === undefined ? 0 : this.#held.length - this.#heldFill;
      const size = isInHeader ? HEADER - this.#headerFill : held + this.#restBytes;
      this.walk(bytes.subarray(at, at + size));
      at = Math.min(bytes.length, at + size);
    }
    return at;
  }

  /** The fast path for nearly every byte: from the header at `at` to the next, until the chunk ends. */
  #walkMessages(bytes: Uint8Array, from: number): void {
    const { shortest, longest, wanted } = this.#grammar;
    const end = bytes.length;
    let at = from;
    // Locals for speed: a row costs no write to an object.
    let latest = this.#type;
    while (at + HEADER <= end) {
      const type = bytes[at] ?? 0;
      const length =
        ((bytes[at + 1] ?? 0) << 24) |
        ((bytes[at + 2] ?? 0) << 16) |
        ((bytes[at + 3] ?? 0) << 8) |
        (bytes[at + 4] ?? 0);
      if (length > (longest[type] ?? 0) || length < (shortest[type] ?? 0)) return this.#stopAt(type, length);
      latest = type;
      const most = wanted[type] ?? -1;
      if (most >= 0) {
        this.#type = type;
        const size = Math.min(most, length - LENGTH_WORD);
        if (at + HEADER + size > end) {
          this.#hold(length, size);
          this.#resume(bytes.subarray(at + HEADER));
          return;
        }
        if (!this.report(type, bytes, at + HEADER, size)) return this.#stop();
        const rest = at + HEADER + size;
        if (size < length - LENGTH_WORD && rest < end) {
          this.reportRest(type, bytes, rest, Math.min(end, at + 1 + length));
        }
      }
      at += 1 + length;
    }
    this.#type = latest;
    if (at >= end) this.#restBytes = at - end;
    else this.#takeHeader(bytes, at);
  }

  /** Continues the message of the last chunk. Returns the start of the next message when this one ends in the chunk. */
  #resume(bytes: Uint8Array): number {
    if (!this.#isFollowing) return 0;
    let at = this.#headerFill > 0 ? this.#takeHeader(bytes, 0) : 0;
    if (this.#held !== undefined) at = this.#takeWanted(this.#held, bytes, at);
    // None while wanted bytes are missing: these take all that there is.
    const skipped = Math.min(this.#restBytes, bytes.length - at);
    if (skipped > 0) this.reportRest(this.#type, bytes, at, at + skipped);
    this.#restBytes -= skipped;
    return at + skipped;
  }

  #takeHeader(bytes: Uint8Array, from: number): number {
    let at = from;
    while (this.#headerFill < HEADER && at < bytes.length) {
      const byte = bytes[at] ?? 0;
      if (this.#headerFill === 0) this.#type = byte;
      else this.#length = (this.#length << 8) | byte;
      this.#headerFill += 1;
      at += 1;
    }
    if (this.#headerFill < HEADER) return at;
    const type = this.#type;
    const length = this.#length;
    this.#headerFill = 0;
    this.#length = 0;
    if (length > (this.#grammar.longest[type] ?? 0) || length < (this.#grammar.shortest[type] ?? 0)) {
      this.#stopAt(type, length);
      return at;
    }
    const most = this.#grammar.wanted[type] ?? -1;
    if (most >= 0) this.#hold(length, Math.min(most, length - LENGTH_WORD));
    else this.#restBytes = length - LENGTH_WORD;
    return at;
  }

  #hold(length: number, size: number): void {
    this.#held = new Uint8Array(size);
    this.#heldFill = 0;
    this.#restBytes = length - LENGTH_WORD - size;
  }

  #takeWanted(held: Uint8Array, bytes: Uint8Array, from: number): number {
    const taken = Math.min(held.length - this.#heldFill, bytes.length - from);
    held.set(bytes.subarray(from, from + taken), this.#heldFill);
    this.#heldFill += taken;
    if (this.#heldFill < held.length) return from + taken;
    this.#held = undefined;
    if (!this.report(this.#type, held, 0, held.length)) this.#stop();
    return from + taken;
  }

  #stopAt(type: number, length: number): void {
    this.#type = type;
    this.#length = length;
    this.#stop();
  }

  #stop(): void {
    this.#isFollowing = false;
    this.#held = undefined;
  }
}
