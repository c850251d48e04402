// What a client's bytes after its startup packet oblige its backend to: how many ReadyForQuery are still to come, the
// startup's own among them, and whether the extended protocol stands open. It errs on one side only: it may go on waiting for an
// answer that never comes. Types and limits of length are those of PostgreSQL (SocketBackend in postgres.c).
import { FrameWalker, grammarOf } from './frames.ts';

/** PQ_LARGE_MESSAGE_LIMIT. */
const LONG = 0x3fff_ffff - 1;
/** PQ_SMALL_MESSAGE_LIMIT. */
const SHORT = 10_000;
/** PG_MAX_AUTH_TOKEN_LENGTH. */
const LONGEST_TOKEN = 65_535;

const GRAMMAR = grammarOf([
  // Query, FunctionCall.
  { types: 'QF', longest: LONG, wanted: 0 },
  // Sync, Terminate.
  { types: 'SX', longest: 4, wanted: 0 },
  // Parse, Bind.
  { types: 'PB', longest: LONG, wanted: 0 },
  // Describe, Execute, Close.
  { types: 'DEC', longest: SHORT, wanted: 0 },
  // Flush asks for nothing that was not asked before.
  { types: 'H', longest: 4 },
  // CopyData, CopyFail, CopyDone.
  { types: 'd', longest: LONG },
  { types: 'f', longest: SHORT, wanted: 0 },
  { types: 'c', longest: 4, wanted: 0 },
  // Whatever answers an authentication request.
  { types: 'p', longest: LONGEST_TOKEN },
]);

const QUERY = 0x51;
const FUNCTION_CALL = 0x46;
const SYNC = 0x53;
const TERMINATE = 0x58;
const COPY_DONE = 0x63;
const COPY_FAIL = 0x66;

export class ClientFollower extends FrameWalker {
  #awaited = 1;
  /** None of the awaited belongs to the startup, a Query or a FunctionCall. */
  #onlySyncs = false;
  #isUnsynced = false;
  #isTerminating = false;
  #isCopyingIn = false;

  constructor() {
    super(GRAMMAR);
  }

  /** The next bytes from the client. `isCopyingIn`: what the backend is known to do when they come. */
  follow(chunk: Uint8Array, isCopyingIn: boolean): void {
    this.#isCopyingIn = isCopyingIn;
    this.walk(chunk);
  }

  /** So many ReadyForQuery came. PostgreSQL sends one unasked after an error while it was idle: it answers nothing. */
  answered(count: number): void {
    this.#awaited = Math.max(0, this.#awaited - count);
    if (this.#awaited === 0) this.#onlySyncs = true;
  }

  /** How many ReadyForQuery are to come. */
  awaited(): number {
    return this.#awaited;
  }

  /** Extended-protocol messages were sent and no Sync after them. */
  isUnsynced(): boolean {
    return this.#isUnsynced;
  }

  isTerminating(): boolean {
    return this.#isTerminating;
  }

  protected override report(type: number): boolean {
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

  #await(): void {
    this.#awaited += 1;
    this.#isUnsynced = false;
  }

  /**
   * A COPY FROM STDIN by the extended protocol takes no notice of a Sync before its end (CopyGetData in copyfromparse.c), so a client
   * that sent one with the Execute, as libpq does, sends another after the data, and only that is answered. Who sent more than one
   * is not understood, and waits.
   */
  #endCopy(): void {
    if (!this.#isCopyingIn || !this.#onlySyncs || this.#awaited > 1) return;
    this.#awaited = 0;
    this.#isUnsynced = true;
  }
}
