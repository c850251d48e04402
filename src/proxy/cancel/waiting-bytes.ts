// Bytes of a client that wait, and that no server has seen. A cancel request takes the first request out of them and
// answers it as the server would: a statement by itself, or messages of the extended protocol up to their Sync. The
// rest of a request that is not there yet is dropped as it arrives.
import { encodeErrorResponse } from '../../wire/error-response.ts';
import { FrameWalker, grammarOf } from '../../wire/frames.ts';
import { encodeReadyForQuery, joined } from '../../wire/server-messages.ts';

const NOTHING = new Uint8Array(0);
/** PQ_LARGE_MESSAGE_LIMIT. The server judges the lengths of what it gets. */
const LONGEST = 0x3fff_ffff - 1;
const GRAMMAR = grammarOf([{ types: 'QFPBDECSHXdcf', longest: LONGEST }]);
const SYNC = 0x53;
const TERMINATE = 0x58;
/** Query, FunctionCall: each is a request by itself. */
const SINGLE = new Set(Array.from('QF', (type) => type.charCodeAt(0)));
/** Parse, Bind, Describe, Execute, Close: an error skips all behind it up to the Sync. */
const SERIES = new Set(Array.from('PBDEC', (type) => type.charCodeAt(0)));

const CANCELED = encodeErrorResponse({
  severity: 'ERROR',
  // query_canceled, with PostgreSQL's own text.
  sqlState: '57014',
  message: 'canceling statement due to user request',
  detail: 'No server has seen the statement: it waited in Pointsman.',
});
const READY = encodeReadyForQuery('idle');

export class WaitingBytes {
  #buffer: Uint8Array = NOTHING;
  #length = 0;
  #taken: Taken | undefined;

  length(): number {
    return this.#length;
  }

  /** Until they change. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Copies the chunk. Returns messages for the client: the end of the answer to a cancelled request. */
  add(chunk: Uint8Array): Uint8Array | undefined {
    const taken = this.#taken;
    if (taken === undefined) return this.#append(chunk);
    const length = taken.take(chunk);
    const isOver = taken.isOver();
    if (!isOver && length === chunk.length && taken.isFollowing()) return undefined;
    this.#taken = undefined;
    this.#append(taken.isFollowing() ? chunk.subarray(length) : chunk);
    return isOver ? READY : undefined;
  }

  /** Returns messages for the client. Undefined: no statement is the first that waits. */
  cancelFirst(): Uint8Array | undefined {
    const first = this.#length === 0 ? undefined : this.#buffer[0];
    if (this.#taken !== undefined || first === undefined || !(SINGLE.has(first) || SERIES.has(first))) return undefined;
    const bytes = this.bytes();
    this.#buffer = NOTHING;
    this.#length = 0;
    this.#taken = new Taken(SERIES.has(first));
    return joined([CANCELED, this.add(bytes) ?? NOTHING]);
  }

  /** The rest of a cancelled request is still to come. */
  isCancelling(): boolean {
    return this.#taken !== undefined;
  }

  /** Doubles the buffer, so that a client that sends one byte at a time costs linear time and little memory. */
  #append(chunk: Uint8Array): undefined {
    if (chunk.length === 0) return undefined;
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#buffer = Uint8Array.from(chunk);
    } else {
      if (length > this.#buffer.length) {
        const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
        larger.set(this.bytes());
        this.#buffer = larger;
      }
      this.#buffer.set(chunk, this.#length);
    }
    this.#length = length;
    return undefined;
  }
}

/** The request that is taken out. */
class Taken extends FrameWalker {
  readonly #isSeries: boolean;

  constructor(isSeries: boolean) {
    super(GRAMMAR);
    this.#isSeries = isSeries;
  }

  /** Returns how many bytes belong to it. */
  take(chunk: Uint8Array): number {
    return this.walkWhile(chunk, (type) => !this.isOver() && !(this.#isSeries && type === TERMINATE));
  }

  isOver(): boolean {
    if (!this.isAtBoundary() || this.latestType() === 0) return false;
    return !this.#isSeries || this.latestType() === SYNC;
  }

  protected override report(): boolean {
    return true;
  }
}
