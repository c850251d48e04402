// The answers of a server that was asked to cancel the statement of its client: the error that says so is replaced, so
// that the client reads the reason. All else passes as it is.
import { isFatal, sqlStateOf } from '../messages/error-fields.ts';
import { HEADER, endOfMessage } from '../messages/header.ts';
import { joined } from '../messages/server-messages.ts';

const ERROR = 0x45;
const NOTICE = 0x4e;
const QUERY_CANCELED = '57014';
/** The class of the warning that a COMMIT no longer waits for its synchronous standby (SyncRepWaitForLSN). */
const WARNING = '01000';
/** A longer error passes as it is. Bytes. */
const LONGEST = 65_536;

export class CancelledStatement {
  readonly #error: Uint8Array;
  /** Bytes of a message that passes which are still to come. */
  #left = 0;
  /** The beginning of a message that may be replaced. */
  #kept: Uint8Array | undefined;
  #end: 'told' | 'unsure' | undefined;

  /** To be made between two messages of the server. `error`: a whole message. */
  constructor(error: Uint8Array) {
    this.#error = error;
  }

  /** The client has read `error`. */
  hasTold(): boolean {
    return this.#end === 'told';
  }

  /** The statement may be a COMMIT that a standby does not have: its client must read nothing more. */
  isUnsure(): boolean {
    return this.#end === 'unsure';
  }

  /** The next bytes of the server. Returns those that the client may read now. Undefined: none. */
  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#end === 'unsure') return undefined;
    const bytes = this.#kept === undefined ? chunk : joined([this.#kept, chunk]);
    this.#kept = undefined;
    let at = Math.min(this.#left, bytes.length);
    this.#left -= at;
    while (at < bytes.length && this.#end === undefined) {
      const end = at + HEADER > bytes.length ? Infinity : endOfMessage(bytes, at);
      if (mustBeWhole(bytes, at, end) && end > bytes.length) {
        // The chunk is valid only during the call.
        this.#kept = bytes.slice(at);
        return at === 0 ? undefined : bytes.slice(0, at);
      }
      const verdict = end > bytes.length ? undefined : judged(bytes, at, end);
      this.#end = verdict;
      if (verdict === 'unsure') return at === 0 ? undefined : bytes.slice(0, at);
      if (verdict === 'told') return joined([bytes.subarray(0, at), this.#error, bytes.subarray(end)]);
      this.#left = Math.max(0, end - bytes.length);
      at = Math.min(end, bytes.length);
    }
    return bytes;
  }
}

/** Another message passes as it comes. */
function mustBeWhole(bytes: Uint8Array, at: number, end: number): boolean {
  if (end === Infinity) return true;
  return (bytes[at] === ERROR || bytes[at] === NOTICE) && end - at <= LONGEST;
}

function judged(bytes: Uint8Array, at: number, end: number): 'told' | 'unsure' | undefined {
  const [from, size] = [at + HEADER, end - at - HEADER];
  if (bytes[at] === NOTICE && sqlStateOf(bytes, from, size) === WARNING) return 'unsure';
  if (bytes[at] !== ERROR || isFatal(bytes, from, size)) return undefined;
  return sqlStateOf(bytes, from, size) === QUERY_CANCELED ? 'told' : undefined;
}
