// Reads a client's bytes after the startup packet: which messages go to the server. Types and length limits are those
// of PostgreSQL (SocketBackend in postgres.c).
import { FrameWalker, grammarOf, type MessageRule } from './frames.ts';
import type { SessionMemory } from './session-memory.ts';
import { LONGEST_NAMES } from './statement-watch.ts';
import type { UnansweredMessages } from './unanswered.ts';
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
  { types: 'B', longest: LONG, wanted: LONGEST_NAMES },
  { types: 'C', longest: SHORT, wanted: 2 },
  // The object id of the function.
  { types: 'F', longest: LONG, wanted: 4 },
]);

const QUERY = 0x51;
const FUNCTION_CALL = 0x46;
const SYNC = 0x53;
const TERMINATE = 0x58;
const PARSE = 0x50;
const BIND = 0x42;
const CLOSE = 0x43;
/** Query, FunctionCall, Parse, Bind, Describe, Execute, Close, Sync. */
const REQUESTS: ReadonlySet<number> = new Set(Array.from('QFPBDECS', (type) => type.charCodeAt(0)));

export class ClientFollower extends FrameWalker {
  readonly #unanswered: UnansweredMessages;
  readonly #memory: SessionMemory | undefined;
  #isTerminating = false;

  /** `memory`: of a session that may move. */
  constructor(unanswered: UnansweredMessages, memory?: SessionMemory) {
    super(memory === undefined ? GRAMMAR : MEMORY_GRAMMAR);
    this.#unanswered = unanswered;
    this.#memory = memory;
  }

  /**
   * As `walk`, but no request begins while an answer is due: so a client that sends several in advance comes between
   * two transactions. Data of a COPY goes on. Returns how many bytes were read; the rest must wait until none is due.
   */
  walkOneByOne(chunk: Uint8Array): number {
    return this.#walkWhile(chunk, (type) => !this.#mustWait(type));
  }

  /** As `walkOneByOne` with `isOneByOne`, and no message comes that may begin a transaction. */
  walkUntilTransaction(chunk: Uint8Array, mayBegin: (type: number) => boolean, isOneByOne: boolean): number {
    return this.#walkWhile(chunk, (type) => !mayBegin(type) && !(isOneByOne && this.#mustWait(type)));
  }

  isTerminating(): boolean {
    return this.#isTerminating;
  }

  protected override report(type: number, bytes: Uint8Array, at: number, size: number): boolean {
    if (this.#memory !== undefined) remember(this.#memory, type, bytes, at, size);
    if (type === TERMINATE) this.#isTerminating = true;
    return this.#unanswered.sends(type);
  }

  protected override reportRest(type: number, bytes: Uint8Array, from: number, to: number): void {
    if (type === QUERY || type === PARSE) this.#memory?.goesOn(bytes, from, to);
  }

  /** Returns how many bytes were read. Invalid ones are the server's to judge. */
  #walkWhile(chunk: Uint8Array, mayBegin: (type: number) => boolean): number {
    const read = this.walkWhile(chunk, mayBegin);
    return this.isFollowing() ? read : chunk.length;
  }

  /** An answer is due, behind which the request would come. */
  #mustWait(type: number): boolean {
    return this.#unanswered.isDue() && REQUESTS.has(type);
  }
}

function remember(memory: SessionMemory, type: number, bytes: Uint8Array, at: number, size: number): void {
  switch (type) {
    case PARSE:
      return memory.parses(bytes, at, size);
    case QUERY:
      return memory.queries(bytes, at, size);
    case BIND:
      return memory.binds(bytes, at, size);
    case CLOSE:
      return memory.closes(size > 0 ? bytes[at] : undefined, size > 1 ? bytes[at + 1] : undefined);
    case FUNCTION_CALL:
      return memory.calls(size === 4 ? new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0) : undefined);
    default:
      if (REQUESTS.has(type) && type !== SYNC) memory.requests();
  }
}
