// Bytes of a client that wait, and that no server has seen. The first request can be taken out of them, because its
// client cancels it or because it is refused. It is answered as the server would: a statement by itself, or messages of
// the extended protocol up to their Sync. Messages before it that run nothing are answered with it. The rest of a
// request that is not there yet is dropped as it arrives.
import { encodeErrorResponse } from '../../wire/messages/error-response.ts';
import { firstRequest } from '../../wire/follow/first-request.ts';
import { FrameWalker, grammarOf } from '../../wire/follow/frames.ts';
import { encodeReadyForQuery, joined, type BlockStatus } from '../../wire/messages/server-messages.ts';
import { HEADER, bodySize, endOfMessage } from '../../wire/messages/header.ts';
import { GrowingBuffer } from '../../wire/messages/growing-buffer.ts';

const NOTHING = new Uint8Array(0);
/** PQ_LARGE_MESSAGE_LIMIT. The server judges the lengths of what it gets. */
const LONGEST = 0x3fff_ffff - 1;
const GRAMMAR = grammarOf([
  { types: 'QFBDECSHXdcf', longest: LONGEST },
  { types: 'P', longest: LONGEST, wanted: 1 },
]);
const QUERY = 0x51;
const PARSE = 0x50;
const SYNC = 0x53;
const TERMINATE = 0x58;
/** Query, FunctionCall: each is a request by itself. */
const SINGLE = new Set(Array.from('QF', (type) => type.charCodeAt(0)));
/** Parse, Bind, Describe, Execute, Close: an error skips all behind it up to the Sync. */
const SERIES = new Set(Array.from('PBDEC', (type) => type.charCodeAt(0)));
/** Sync, Flush and the messages of a COPY that has failed: they begin nothing. */
const LIGHT = new Set(Array.from('SHdcf', (type) => type.charCodeAt(0)));

const CANCELED = encodeErrorResponse({
  severity: 'ERROR',
  // query_canceled, with PostgreSQL's own text.
  sqlState: '57014',
  message: 'canceling statement due to user request',
  detail: 'No server has seen the statement: it waited in Pointsman.',
});

/** The transaction of a client was ended, and its next request reads that. */
export interface OwedError {
  /** An ErrorResponse that ends the statement alone. */
  readonly error: Uint8Array;
  /** The text of a statement that the client has prepared. */
  readonly textOf: (name: string) => string | undefined;
}

export class WaitingBytes {
  readonly #buffer = new GrowingBuffer();
  /** As the client knows it behind the last answer. */
  #status: BlockStatus = 'idle';
  #owed: OwedError | undefined;
  #taken: StatementCut | undefined;
  #hasLostUnnamed = false;

  length(): number {
    return this.#buffer.length();
  }

  /** Until they change. */
  bytes(): Uint8Array {
    return this.#buffer.bytes();
  }

  /** Copies the chunk. Returns messages for the client: the end of the answer to a cancelled request. */
  add(chunk: Uint8Array): Uint8Array | undefined {
    const taken = this.#taken;
    if (taken === undefined) {
      this.#buffer.append(chunk);
      return this.#owed && this.#pay(this.#owed);
    }
    const length = taken.take(chunk);
    const isOver = taken.isOver();
    this.#hasLostUnnamed ||= taken.replacesUnnamed();
    if (!isOver && length === chunk.length && taken.isFollowing()) return undefined;
    this.#taken = undefined;
    // The server judges what is none of its protocol.
    if (!taken.isFollowing()) this.#buffer.append(taken.invalidHeader());
    this.#buffer.append(chunk.subarray(length));
    return isOver ? encodeReadyForQuery(this.#status) : undefined;
  }

  /**
   * `error`: an ErrorResponse that ends the statement alone. Returns messages for the client. Undefined: no statement
   * is the first that waits.
   */
  cancelFirst(error = CANCELED): Uint8Array | undefined {
    if (this.#owed !== undefined || this.#taken !== undefined) return undefined;
    return this.#takeFirst(error, this.#status);
  }

  /**
   * The client is in a transaction, which has ended: `open`, as it knows it, and its first request reads the error, but
   * for a ROLLBACK; without an error the client knows that it has failed. Returns messages for the client.
   */
  owes(owed: OwedError | undefined): Uint8Array | undefined {
    this.#status = owed === undefined ? 'failed' : 'in_transaction';
    this.#owed = owed;
    return owed && this.#pay(owed);
  }

  /** The error of `owes` is not told yet. */
  isOwing(): boolean {
    return this.#owed !== undefined;
  }

  /** As the client knows it behind the answers so far. */
  status(): BlockStatus {
    return this.#status;
  }

  /** The rest of a cancelled request is still to come. */
  isCancelling(): boolean {
    return this.#taken !== undefined;
  }

  /**
   * A request that was taken out would have replaced the session's unnamed statement. A Bind behind it must not find
   * the one of before.
   */
  hasLostUnnamed(): boolean {
    return this.#hasLostUnnamed;
  }

  /** `before`: the state in the answer to a Sync before the request. */
  #takeFirst(error: Uint8Array, before: BlockStatus): Uint8Array | undefined {
    const bytes = this.bytes();
    const { at, syncs } = beforeStatement(bytes);
    const first = bytes[at];
    if (first === undefined || !(SINGLE.has(first) || SERIES.has(first))) return undefined;
    this.#buffer.clear();
    this.#taken = new StatementCut(SERIES.has(first));
    return joined([...answersOf(syncs, before), error, this.add(bytes.subarray(at)) ?? NOTHING]);
  }

  #pay({ error, textOf }: OwedError): Uint8Array {
    const bytes = this.bytes();
    const { at, syncs } = beforeStatement(bytes);
    const asked = firstRequest(bytes.subarray(at), textOf);
    if (asked === 'commit' || asked === 'other') {
      this.#owed = undefined;
      this.#status = asked === 'commit' ? 'idle' : 'failed';
      return this.#takeFirst(error, 'in_transaction') ?? NOTHING;
    }
    this.#buffer.clear();
    this.#buffer.append(bytes.subarray(at));
    if (asked === 'rollback') {
      this.#owed = undefined;
      this.#status = 'failed';
    }
    return joined(answersOf(syncs, 'in_transaction'));
  }
}

function answersOf(syncs: number, status: BlockStatus): readonly Uint8Array[] {
  return Array<Uint8Array>(syncs).fill(encodeReadyForQuery(status));
}

/** Where the first statement begins. The server would answer each Sync before it, and ignore the rest. */
function beforeStatement(bytes: Uint8Array): { readonly at: number; readonly syncs: number } {
  let at = 0;
  let syncs = 0;
  while (LIGHT.has(bytes[at] ?? 0) && at + HEADER <= bytes.length && bodySize(bytes, at) >= 0) {
    const end = endOfMessage(bytes, at);
    if (end > bytes.length) break;
    if (bytes[at] === SYNC) syncs += 1;
    at = end;
  }
  return { at, syncs };
}

/** The request that is taken out. */
class StatementCut extends FrameWalker {
  readonly #isSeries: boolean;
  #hasUnnamedParse = false;

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

  replacesUnnamed(): boolean {
    return this.#hasUnnamedParse || (!this.#isSeries && this.latestType() === QUERY);
  }

  protected override report(type: number, bytes: Uint8Array, at: number): boolean {
    if (type === PARSE && bytes[at] === 0) this.#hasUnnamedParse = true;
    return true;
  }
}
