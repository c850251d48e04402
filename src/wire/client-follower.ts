// Counts from a client's bytes after the startup packet how many ReadyForQuery the backend still owes, the one of the
// startup included, and whether an extended-protocol sequence lacks its Sync. It errs in one direction only: it may
// wait for a reply that never comes. Types and length limits are those of PostgreSQL (SocketBackend in postgres.c).
import { FrameWalker, grammarOf } from './frames.ts';
import type { MessageRule } from './frames.ts';
import type { SessionMemory } from './session-memory.ts';
import { LONGEST_UNNAMED } from './unnamed-statement.ts';

/** PQ_LARGE_MESSAGE_LIMIT. */
const LONG = 0x3fff_ffff - 1;
/** PQ_SMALL_MESSAGE_LIMIT. */
const SHORT = 10_000;
/** PG_MAX_AUTH_TOKEN_LENGTH. */
const LONGEST_TOKEN = 65_535;

const RULES: readonly MessageRule[] = [
  // Query, FunctionCall.
  { types: 'QF', longest: LONG, wanted: 0 },
  // Sync, Terminate.
  { types: 'SX', longest: 4, wanted: 0 },
  // Parse, Bind.
  { types: 'PB', longest: LONG, wanted: 0 },
  // Describe, Execute, Close.
  { types: 'DEC', longest: SHORT, wanted: 0 },
  // Flush requests no new reply.
  { types: 'H', longest: 4 },
  // CopyData, CopyFail, CopyDone.
  { types: 'd', longest: LONG },
  { types: 'f', longest: SHORT, wanted: 0 },
  { types: 'c', longest: 4, wanted: 0 },
  // Every reply to an authentication request.
  { types: 'p', longest: LONGEST_TOKEN },
];
const GRAMMAR = grammarOf(RULES);
/** With the texts of statements, of a session that may move. */
const MEMORY_GRAMMAR = grammarOf([
  ...RULES,
  { types: 'QP', longest: LONG, wanted: LONGEST_UNNAMED + 1 },
  { types: 'C', longest: SHORT, wanted: 2 },
  // The object id of the function.
  { types: 'F', longest: LONG, wanted: 4 },
]);

const QUERY = 0x51;
const FUNCTION_CALL = 0x46;
const SYNC = 0x53;
const TERMINATE = 0x58;
const COPY_DONE = 0x63;
const COPY_FAIL = 0x66;
const PARSE = 0x50;
const CLOSE = 0x43;
/** Query, FunctionCall, Parse, Bind, Describe, Execute, Close, Sync. */
const REQUESTS: ReadonlySet<number> = new Set(Array.from('QFPBDECS', (type) => type.charCodeAt(0)));

export class ClientFollower extends FrameWalker {
  readonly #memory: SessionMemory | undefined;
  #awaited = 1;
  /** No awaited ReadyForQuery belongs to the startup, a Query or a FunctionCall. */
  #onlySyncs = false;
  #isUnsynced = false;
  #isTerminating = false;
  #isCopyingIn = false;

  /** `memory`: of a session that may move. */
  constructor(memory?: SessionMemory) {
    super(memory === undefined ? GRAMMAR : MEMORY_GRAMMAR);
    this.#memory = memory;
  }

  /** The next bytes from the client. `isCopyingIn`: the backend takes COPY data. */
  follow(chunk: Uint8Array, isCopyingIn: boolean): void {
    this.#isCopyingIn = isCopyingIn;
    this.walk(chunk);
  }

  /**
   * As `follow`, but no request begins while a ReadyForQuery is due: so a client that sends several in advance comes
   * between two transactions. Data of a COPY goes on. Returns how many bytes were read; the rest must wait until none
   * is due.
   */
  followOneByOne(chunk: Uint8Array, isCopyingIn: boolean): number {
    this.#isCopyingIn = isCopyingIn;
    return this.walkWhile(chunk, (type) => this.#awaited === 0 || this.#isUnsynced || !REQUESTS.has(type));
  }

  /** ReadyForQuery arrived. After an error on an idle session PostgreSQL sends one that answers no request. */
  answered(count: number): void {
    this.#awaited = Math.max(0, this.#awaited - count);
    if (this.#awaited === 0) this.#onlySyncs = true;
  }

  /** How many ReadyForQuery are still due. */
  awaited(): number {
    return this.#awaited;
  }

  /** Extended-protocol messages were sent without a Sync after them. */
  isUnsynced(): boolean {
    return this.#isUnsynced;
  }

  isTerminating(): boolean {
    return this.#isTerminating;
  }

  protected override report(type: number, bytes: Uint8Array, at: number, size: number): boolean {
    if (this.#memory !== undefined) remember(this.#memory, type, bytes, at, size);
    switch (type) {
      case QUERY:
      case FUNCTION_CALL:
        this.#await();
        this.#onlySyncs = false;
        break;
      case SYNC:
        this.#await();
        break;
      case TERMINATE:
        this.#isTerminating = true;
        break;
      case COPY_DONE:
      case COPY_FAIL:
        this.#endCopy();
        break;
      default:
        this.#isUnsynced = true;
    }
    return true;
  }

  protected override reportRest(type: number, bytes: Uint8Array, from: number, to: number): void {
    if (type === QUERY || type === PARSE) this.#memory?.goesOn(bytes, from, to);
  }

  #await(): void {
    this.#awaited += 1;
    this.#isUnsynced = false;
  }

  /**
   * A COPY FROM STDIN in the extended protocol ignores a Sync before its end (CopyGetData in copyfromparse.c). A client
   * that sent one with the Execute, as libpq does, sends another after the data, and only that one gets a reply. More
   * than one early Sync is not understood: the session then counts as busy.
   */
  #endCopy(): void {
    if (!this.#isCopyingIn || !this.#onlySyncs || this.#awaited > 1) return;
    this.#awaited = 0;
    this.#isUnsynced = true;
  }
}

function remember(memory: SessionMemory, type: number, bytes: Uint8Array, at: number, size: number): void {
  if (type === PARSE) memory.parses(bytes, at, size);
  else if (type === QUERY) memory.queries(bytes, at, size);
  else if (type === CLOSE) memory.closes(bytes[at], bytes[at + 1]);
  else if (REQUESTS.has(type) && type !== SYNC) memory.requests();
  if (type === FUNCTION_CALL && size === 4) {
    memory.texts.calls(new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0));
  }
}
