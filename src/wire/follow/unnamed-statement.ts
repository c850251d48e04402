// The unnamed statement of a session: no catalog shows it. After an error the server skips messages until the next Sync
// (PostgresMain in postgres.c), so its answers tell which Parse and which Close took effect.
import { HEADER } from '../messages/header.ts';

/** A longer one is not kept. Bytes of the body of its Parse message. */
export const LONGEST_UNNAMED = 16_384;

const PARSE = 0x50;
/**
 * Syntax error or access rule violation. exec_parse_message drops the statement of before, and fails like this only
 * then. A text with invalid bytes fails earlier (22021).
 */
const OWN_FAULT = '42';
const DECODER = new TextDecoder('latin1');
const NOTHING = new Uint8Array(0);

export class UnnamedStatement {
  /** Its first bytes; a shorter one takes the memory of a longer one. */
  #message: Uint8Array = NOTHING;
  /** 0: there is none. */
  #size = 0;
  #isTooLong = false;
  #changed: Set<string> | undefined;
  #isInDoubt = false;
  // Since the session was idle last, of all statements and portals:
  #parsesDue = 0;
  #closesDue = 0;
  // Since then, of this statement:
  #wasParsed = false;
  #wasClosed = false;
  /** Its Parse is the first request of all, and the server has not answered. */
  #isFirst = false;
  #hasFailed = false;

  /** The Parse message, if there may be a statement. */
  message(): Uint8Array | undefined {
    return this.#size === 0 ? undefined : this.#message.slice(0, this.#size);
  }

  /** A character for each byte. */
  text(): string | undefined {
    const message = this.message();
    // Behind the empty name.
    return message && DECODER.decode(message.subarray(HEADER + 1)).split('\0', 1)[0];
  }

  isTooLong(): boolean {
    return this.#isTooLong;
  }

  /** The server has skipped a part, so it may have another statement than this one. */
  isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** Settings that say how it is read, and have changed since. */
  changedReading(): readonly string[] {
    return [...(this.#changed ?? [])];
  }

  readingChanges(name: string): void {
    (this.#changed ??= new Set()).add(name);
  }

  /** The client sends Parse, with the body of `size` bytes from `at`. `isFirst`: no request of it is unanswered. */
  parses(bytes: Uint8Array, at: number, size: number, isFirst: boolean): void {
    this.forget();
    this.#parsesDue += 1;
    this.#wasParsed = true;
    this.#isFirst = isFirst;
    this.#hasFailed = false;
    if (size > LONGEST_UNNAMED) {
      this.#isTooLong = true;
      return;
    }
    const whole = HEADER + size;
    const kept = this.#message.length >= whole ? this.#message : new Uint8Array(whole);
    kept[0] = PARSE;
    new DataView(kept.buffer).setInt32(1, 4 + size);
    kept.set(bytes.subarray(at, at + size), HEADER);
    this.#message = kept;
    this.#size = whole;
  }

  /** The client sends Parse of a statement with a name. */
  parsesOther(): void {
    this.#parsesDue += 1;
  }

  closes(): void {
    this.forget();
    this.#closesDue += 1;
    this.#wasClosed = true;
    this.#isFirst = false;
    this.#hasFailed = false;
  }

  /** The client sends Close of another statement, or of a portal. */
  closesOther(): void {
    this.#closesDue += 1;
  }

  /** ParseComplete. */
  parsed(): void {
    this.#parsesDue -= 1;
    this.#isFirst = false;
  }

  /** CloseComplete. */
  closed(): void {
    this.#closesDue -= 1;
  }

  /** ErrorResponse. */
  fails(sqlState: string): void {
    this.#hasFailed ||= this.#isFirst && sqlState.startsWith(OWN_FAULT);
    this.#isFirst = false;
  }

  /** The session is idle: no answer is due any more. */
  settles(): void {
    const isSkipped = (this.#wasParsed && this.#parsesDue !== 0) || (this.#wasClosed && this.#closesDue !== 0);
    if (isSkipped && this.#hasFailed) this.forget();
    if (this.#wasParsed || this.#wasClosed) this.#isInDoubt = isSkipped && !this.#hasFailed;
    this.#parsesDue = 0;
    this.#closesDue = 0;
    this.#wasParsed = false;
    this.#wasClosed = false;
  }

  /** The client sends Query, which drops the statement (exec_simple_query) unless the server skips it. */
  queries(): void {
    this.forget();
    this.#isInDoubt = false;
  }

  forget(): void {
    this.#size = 0;
    this.#changed = undefined;
    this.#isTooLong = false;
  }
}
