// Takes the values out of the rows that a server sends, before the library `pg` sees them: the library makes a string
// of every value, and nobody can overwrite a string. In their place it reads letters x. A server that sends more than
// an answer needs is not listened to any longer.
import type { ScramOnly } from './scram-only.ts';

const HEADER = 5;
const DATA_ROW = 0x44;
const AUTHENTICATION = 0x52;
const READY_FOR_QUERY = 0x5a;
const MASK = 0x78;
/** The header of a row has the number of its values, that of a value its length. Bytes. */
const [COUNT, LENGTH] = [2, 4];

/** Also the library keeps a message until it is complete, and the rows of a question. Bytes. */
const LONGEST_MESSAGE = 65_535;
const MOST_ROWS = 100;

export type MaskedRow = readonly (Buffer | null)[];

export class MaskedRows {
  readonly #header = Buffer.alloc(HEADER);
  #headerFill = 0;
  /** Body bytes to come. */
  #left = 0;
  /** The body of a row. */
  #body: Buffer | undefined;
  #bodyFill = 0;
  /** The next value begins here, behind its length. */
  #valueAt = 0;
  #rows: MaskedRow[] = [];
  #isRow = false;
  readonly #login: ScramOnly | undefined;
  #refusal: string | undefined;

  constructor(login?: ScramOnly) {
    this.#login = login;
  }

  /** Why the connection must end. */
  refusal(): string | undefined {
    return this.#refusal;
  }

  /** The next bytes of the server, from its first one on. They are changed in place. */
  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#refusal === undefined;) {
      if (this.#left === 0) at = this.#takeHeader(chunk, at);
      else if (this.#body === undefined) {
        const skipped = Math.min(this.#left, chunk.length - at);
        this.#left -= skipped;
        at += skipped;
      } else {
        chunk[at] = this.#takeByte(this.#body, chunk[at] ?? 0);
        at += 1;
      }
    }
  }

  /** The rows so far, which are the caller's from now on. */
  rows(): readonly MaskedRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  #takeHeader(chunk: Buffer, from: number): number {
    const taken = Math.min(HEADER - this.#headerFill, chunk.length - from);
    chunk.copy(this.#header, this.#headerFill, from, from + taken);
    this.#headerFill += taken;
    if (this.#headerFill === HEADER) {
      this.#headerFill = 0;
      this.#left = this.#header.readInt32BE(1) - LENGTH;
      // The library would read the same message for ever.
      if (this.#left < 0) this.#refusal = 'the server does not speak PostgreSQL';
      if (this.#left > LONGEST_MESSAGE) this.#refusal = 'the server sends a message that is too long';
      const type = this.#header[0];
      this.#isRow = type === DATA_ROW;
      if (type === READY_FOR_QUERY) this.#refusal ??= this.#login?.refusalAtReady();
      const isRead = this.#refusal === undefined && (type === AUTHENTICATION || (this.#isRow && this.#left > 0));
      this.#body = isRead ? Buffer.alloc(this.#left) : undefined;
      if (this.#body?.length === 0) this.#endLogin(this.#body);
      this.#bodyFill = 0;
      this.#valueAt = COUNT + LENGTH;
    }
    return from + taken;
  }

  /** Returns the byte that stays in its place. */
  #takeByte(body: Buffer, byte: number): number {
    const at = this.#bodyFill;
    body[at] = byte;
    this.#bodyFill += 1;
    this.#left -= 1;
    if (!this.#isRow) {
      if (this.#left === 0) this.#endLogin(body);
      return byte;
    }
    const isValue = at >= this.#valueAt;
    // The last byte of a value, or the last byte of the length of an empty one.
    const end = at + 1 >= this.#valueAt ? this.#valueAt + this.#lengthBefore(body) : Infinity;
    if (at + 1 === end) this.#valueAt = end + LENGTH;
    if (this.#left === 0) this.#end(body);
    return isValue ? MASK : byte;
  }

  /** The length of the value at hand. Null counts as empty. */
  #lengthBefore(body: Buffer): number {
    return Math.max(0, body.readInt32BE(this.#valueAt - LENGTH));
  }

  #endLogin(body: Buffer): void {
    this.#body = undefined;
    this.#refusal = this.#login?.refusal(body);
  }

  #end(body: Buffer): void {
    this.#body = undefined;
    const row: (Buffer | null)[] = [];
    for (let at = COUNT; at + LENGTH <= body.length;) {
      const length = body.readInt32BE(at);
      at += LENGTH;
      row.push(length < 0 ? null : copyOf(body.subarray(at, at + length)));
      at += Math.max(0, length);
    }
    body.fill(0);
    this.#rows.push(row);
    if (this.#rows.length > MOST_ROWS) this.#refusal = `the query returned more than ${MOST_ROWS} rows`;
  }
}

/** With memory of its own. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.alloc(bytes.length);
  bytes.copy(copy);
  return copy;
}
