// Reads the state of a session from the backend's bytes during the relay: authentication, transaction status, cancel
// key, in_hot_standby, a fatal error, and which answers came. Length limits are those of the sender (PostgreSQL 18) or
// of libpq (fe-protocol3.c, fe-connect.c), whichever allows more: a stricter follower would give up on valid streams.
import { int32At } from '../messages/header.ts';
import { LONGEST_SECRET, SHORTEST_SECRET, readKey, type CancelKey } from '../messages/cancel-key.ts';
import { isFatal, sqlStateOf } from '../messages/error-fields.ts';
import { FrameWalker, grammarOf, type MessageRule } from './frames.ts';
import { MOST_TOLD_BYTES, readParameter } from '../messages/parameter-status.ts';
import type { SessionMemory } from './session-memory.ts';
import { LONGEST_TAG } from './statement-watch.ts';
import type { UnansweredMessages } from './unanswered.ts';

/** As the latest ReadyForQuery said: no transaction, in one, in one that failed and waits for its end. */
export type TransactionStatus = 'idle' | 'open' | 'failed';

/** A StringInfo below MaxAllocSize, and the length word. */
const LONG = 0x3fff_ffff + 3;
/** PostgreSQL sends nothing longer, and libpq would not believe it. */
const SHORT = 30_000;
const IN_HOT_STANDBY = new TextEncoder().encode('in_hot_standby\0');
const ON = new TextEncoder().encode('on\0');
/** Severity and SQLSTATE come first: S, V, C. */
const ERROR_OPENING = 128;

const RULES: readonly MessageRule[] = [
  // Authentication, which may carry a GSSAPI or SSPI token.
  { types: 'R', shortest: 8, longest: 65_535, wanted: 4 },
  { types: 'K', shortest: 8 + SHORTEST_SECRET, longest: 8 + LONGEST_SECRET, wanted: 4 + LONGEST_SECRET },
  // PostgreSQL 18 tells search_path, which may be of any length. libpq itself ends a session beyond SHORT.
  { types: 'S', shortest: 6, longest: LONG, wanted: IN_HOT_STANDBY.length + ON.length },
  { types: 'Z', shortest: 5, longest: 5, wanted: 1 },
  { types: 'E', shortest: 5, longest: LONG, wanted: ERROR_OPENING },
  // CopyInResponse.
  { types: 'G', shortest: 7, longest: SHORT, wanted: 0 },
  // CopyOutResponse, CopyBothResponse.
  { types: 'HW', shortest: 7, longest: SHORT },
  // DataRow, CopyData, NoticeResponse, NotificationResponse.
  // ParameterDescription: libpq takes less, but 65 535 parameters of a statement are legal.
  { types: 'DdNAt', longest: LONG },
  // RowDescription, FunctionCallResponse.
  { types: 'TV', longest: LONG, wanted: 0 },
  // CommandComplete.
  { types: 'C', shortest: 5, longest: SHORT, wanted: 0 },
  // NegotiateProtocolVersion.
  { types: 'v', shortest: 5, longest: SHORT },
  // ParseComplete, BindComplete, CloseComplete, EmptyQueryResponse, NoData, PortalSuspended.
  { types: '123Ins', longest: 4, wanted: 0 },
  // CopyDone.
  { types: 'c', longest: 4 },
];
const GRAMMAR = grammarOf(RULES);
/** With whole parameters and with tags, of a session that may move. */
const MEMORY_GRAMMAR = grammarOf([
  ...RULES,
  { types: 'S', shortest: 6, longest: LONG, wanted: MOST_TOLD_BYTES },
  { types: 'C', shortest: 5, longest: SHORT, wanted: LONGEST_TAG },
]);

const AUTHENTICATION = 0x52;
const BACKEND_KEY_DATA = 0x4b;
const PARAMETER_STATUS = 0x53;
const READY_FOR_QUERY = 0x5a;
const ERROR_RESPONSE = 0x45;
const PARSE_COMPLETE = 0x31;
const CLOSE_COMPLETE = 0x33;
const COMMAND_COMPLETE = 0x43;

export class BackendFollower extends FrameWalker {
  readonly #unanswered: UnansweredMessages;
  readonly #memory: SessionMemory | undefined;
  #isAuthenticated = false;
  #transaction: TransactionStatus | undefined;
  #cancelKey: CancelKey | undefined;
  #isInHotStandby: boolean | undefined;
  #fatal: string | undefined;

  /** `memory`: of a session that may move. */
  constructor(unanswered: UnansweredMessages, memory?: SessionMemory) {
    super(memory === undefined ? GRAMMAR : MEMORY_GRAMMAR);
    this.#unanswered = unanswered;
    this.#memory = memory;
  }

  isAuthenticated(): boolean {
    return this.#isAuthenticated;
  }

  /** Undefined before the first ReadyForQuery. */
  transaction(): TransactionStatus | undefined {
    return this.#transaction;
  }

  cancelKey(): CancelKey | undefined {
    return this.#cancelKey;
  }

  /** Reported by PostgreSQL 14 and later, also when it changes. */
  isInHotStandby(): boolean | undefined {
    return this.#isInHotStandby;
  }

  /** The last message so far is an error. */
  isAfterError(): boolean {
    return this.isAtBoundary() && this.latestType() === ERROR_RESPONSE;
  }

  /** The SQLSTATE of a FATAL error when it is the last message so far: the reason why the backend closes. */
  fatal(): string | undefined {
    return this.isAfterError() ? this.#fatal : undefined;
  }

  protected override report(type: number, bytes: Uint8Array, at: number, size: number): boolean {
    switch (type) {
      case READY_FOR_QUERY:
        return this.#becomeReady(bytes[at] ?? 0);
      case PARAMETER_STATUS:
        if (hasAt(bytes, at, size, IN_HOT_STANDBY)) {
          this.#isInHotStandby = hasAt(bytes, at + IN_HOT_STANDBY.length, size - IN_HOT_STANDBY.length, ON);
        }
        return this.#memory === undefined || this.#remember(this.#memory, bytes, at, size);
      case AUTHENTICATION:
        // AuthenticationOk is the request numbered 0.
        if (size === 4 && int32At(bytes, at) === 0) this.#isAuthenticated = true;
        return true;
      case BACKEND_KEY_DATA:
        this.#cancelKey = readKey(bytes, at, size);
        return true;
      case ERROR_RESPONSE:
        this.#fatal = isFatal(bytes, at, size) ? sqlStateOf(bytes, at, size) : undefined;
        this.#memory?.fails(sqlStateOf(bytes, at, size));
        break;
      case PARSE_COMPLETE:
        this.#memory?.parsed();
        break;
      case CLOSE_COMPLETE:
        this.#memory?.closed();
        break;
      case COMMAND_COMPLETE:
        this.#memory?.watch?.completes(bytes, at, size);
    }
    this.#unanswered.answers(type);
    return true;
  }

  #remember(memory: SessionMemory, bytes: Uint8Array, at: number, size: number): boolean {
    const parameter = readParameter(bytes, at, size);
    if (parameter !== undefined) memory.tells(parameter[0], parameter[1]);
    // A longer one is told again with the next move.
    return parameter !== undefined || size === MOST_TOLD_BYTES;
  }

  #becomeReady(status: number): boolean {
    const transaction = transactionOf(status);
    if (transaction === undefined) return false;
    this.#transaction = transaction;
    // A transaction has ended; whether another one has begun behind it, `settles` tells.
    if (transaction === 'idle') this.#memory?.watch?.transaction.lasts();
    this.#unanswered.answers(READY_FOR_QUERY);
    return true;
  }
}

function transactionOf(status: number): TransactionStatus | undefined {
  switch (status) {
    case 0x49:
      return 'idle';
    case 0x54:
      return 'open';
    case 0x45:
      return 'failed';
    default:
      return undefined;
  }
}

function hasAt(bytes: Uint8Array, at: number, size: number, text: Uint8Array): boolean {
  return text.length <= size && text.every((byte, index) => bytes[at + index] === byte);
}
