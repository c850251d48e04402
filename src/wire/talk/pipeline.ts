// Requests of our own to a server that speaks for one session: a pipeline of statements, and the reader of its replies.
// Every statement has the name `_pointsman`, so that the client's unnamed statement stays. Texts are UTF-8.
import { HEADER } from '../messages/header.ts';
import { MessageReader } from '../messages/message-reader.ts';
import { readParameter } from '../messages/parameter-status.ts';
import { int16, int32, joined, message } from '../messages/server-messages.ts';
import { columnsOf, rowOf, serverError, typesOf } from './server-replies.ts';
import type { Description, Row, ServerError } from './server-replies.ts';

/** The name of our statements. A client's own statement of this name makes a question fail, and stays. */
export const OUR_STATEMENT = '_pointsman';

/** Attempts at a request that a timeout of the session cancelled before our guard was in force. */
export const MOST_TRIES = 20;
export const GUARD = 'guard';
export const UNNAMED = 'the unnamed statement';
/** No description of a statement is longer: 1,664 columns at most, and 65,535 parameters. Bytes. */
export const LONGEST_DESCRIPTION = 1_000_000;
/** The SQLSTATE query_canceled. */
export const CANCELED = '57014';

/**
 * Notifications, changed parameters and notices that a server sends in one conversation: more ends the session. With
 * LISTEN, some thousand notifications arrive while a question waits for its longest time. Each counts with its place in
 * memory. Bytes.
 */
const MOST_UNASKED = 4_000_000;
const PLACE_BYTES = 100;
// The states in ReadyForQuery.
const IDLE = 0x49;
const FAILED = 0x45;
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
/** The longest time of a question. Milliseconds. */
export const STATEMENT_LIMIT_MS = 3_000;
const LIMITS_MS: Readonly<Record<string, number>> = { lock_timeout: 500, statement_timeout: STATEMENT_LIMIT_MS };
/** A restore has more statements, and one limit holds for all that are prepared. Milliseconds. */
export const RESTORE_LIMITS_MS: typeof LIMITS_MS = { ...LIMITS_MS, statement_timeout: 10_000 };

/** Settings of one transaction: during ours they are not those of the session. */
export const TRANSACTION_SETTINGS = ['transaction_isolation', 'transaction_read_only', 'transaction_deferrable'];

/** Settings that may end a transaction of ours. */
export function timeLimits(serverMajor: number): readonly string[] {
  const names = ['lock_timeout', 'statement_timeout'];
  return serverMajor >= 17 ? [...names, 'transaction_timeout'] : names;
}

export type PipelineEnd =
  | { readonly kind: 'ready'; readonly error: ServerError | undefined }
  /** The server ends the session, or its bytes are none of the protocol's. */
  | { readonly kind: 'over'; readonly error: ServerError | undefined };

/** A reply that is due. `C`: rows and CommandComplete; `T`: a description; `Z`: ReadyForQuery. */
interface Due {
  readonly type: '1' | '2' | '3' | 'C' | 'T' | 'Z';
  readonly request: string;
  readonly onRow?: ((row: Row) => void) | undefined;
  readonly onDescription?: (description: Description) => void;
  /** ParseComplete: the statement is there until its CloseComplete. */
  readonly isOurs?: boolean;
}

const ENCODER = new TextEncoder();
const STATEMENT = text(`${OUR_STATEMENT}\0`);
const NONE = int16(0);
/** Without values. */
const BIND = message('B', [text('\0'), STATEMENT, NONE, NONE, NONE]);
const EXECUTE_AND_CLOSE = joined([message('E', [text('\0'), int32(0)]), message('C', [text('S'), STATEMENT])]);
const SYNC = message('S');

/** A statement that is encoded once and runs often. */
export class EncodedStatement {
  readonly message: Uint8Array;

  constructor(sql: string) {
    this.message = message('P', [STATEMENT, text(`${sql}\0`), NONE]);
  }
}

export class Pipeline {
  readonly #parts: Uint8Array[] = [];
  readonly #due: Due[] = [];
  readonly #reader: MessageReader;
  readonly #onParameter: (name: string, value: string, message: Uint8Array) => void;
  readonly #onNotification: (message: Uint8Array) => void;
  #parameterTypes: readonly number[] = [];
  #error: ServerError | undefined;
  #hasOurs = false;
  #unasked = 0;
  #isAborted = false;
  #isOver = false;

  /** `longest`: a longer message is skipped, and its row is not reported. Bytes. */
  constructor(
    longest: number,
    onParameter: (name: string, value: string, message: Uint8Array) => void,
    onNotification: (message: Uint8Array) => void = () => {},
  ) {
    this.#reader = new MessageReader(longest);
    this.#onParameter = onParameter;
    this.#onNotification = onNotification;
  }

  /** One statement with text values. `request` names it in errors. */
  run(
    request: string,
    sql: string | EncodedStatement,
    values: readonly string[] = [],
    onRow?: (row: Row) => void,
  ): this {
    const { message: parse } = typeof sql === 'string' ? new EncodedStatement(sql) : sql;
    this.#parts.push(parse, values.length === 0 ? BIND : bindOf(values), EXECUTE_AND_CLOSE);
    this.#due.push({ type: '1', request, isOurs: true }, { type: '2', request });
    this.#due.push({ type: 'C', request, onRow }, { type: '3', request, isOurs: true });
    return this;
  }

  /**
   * Begins a transaction, which `commit` ends: a SET LOCAL outside of one would be a warning in the server's log. Our
   * limits of time are in force in it, in place of the session's. Its client waits, so a lock of somebody else, or a
   * slow disk, ends the transaction soon. No snapshot is waited for. `before`: adds statements that must run under the
   * limits of the session.
   */
  guardBriefly(
    serverMajor: number,
    before: (pipeline: this) => void = () => {},
    limitsMs: Readonly<Record<string, number>> = LIMITS_MS,
  ): this {
    this.run(GUARD, BEGIN);
    before(this);
    for (const name of timeLimits(serverMajor)) this.run(GUARD, `SET LOCAL ${name} = ${limitsMs[name] ?? 0}`);
    return this;
  }

  /** The end of what an error has left: a statement of ours, and a transaction that has failed. */
  cleanUpAfter(before: Pipeline): this {
    if (before.#hasOurs) this.close(OUR_STATEMENT);
    return before.#isAborted ? this.run('the end', 'ROLLBACK') : this;
  }

  /** The end of a statement, if there is one of this name. */
  close(name: string): this {
    this.#add('C', [text('S'), text(`${name}\0`)]);
    this.#due.push({ type: '3', request: 'the end' });
    return this;
  }

  /** A statement that stays. */
  prepare(request: string, name: string, sql: string, parameterTypes: readonly number[]): this {
    const types = parameterTypes.map(int32);
    this.#add('P', [text(`${name}\0`), text(`${sql}\0`), int16(types.length), ...types]);
    this.#due.push({ type: '1', request });
    return this;
  }

  describe(request: string, name: string, onDescription: (description: Description) => void): this {
    this.#add('D', [text('S'), text(`${name}\0`)]);
    this.#due.push({ type: 'T', request, onDescription });
    return this;
  }

  /** The Parse message of an unnamed statement. `parameterTypes`: in place of its own, which may leave some open. */
  parseAgain(message: Uint8Array, parameterTypes?: readonly number[]): this {
    if (parameterTypes === undefined) this.#parts.push(message);
    else this.#add('P', [nameAndText(message), int16(parameterTypes.length), ...parameterTypes.map(int32)]);
    this.#due.push({ type: '1', request: UNNAMED });
    return this;
  }

  /** The end of the transaction, and of the pipeline. */
  commit(): this {
    return this.run('the end', 'COMMIT').sync();
  }

  sync(): this {
    this.#parts.push(SYNC);
    this.#due.push({ type: 'Z', request: 'the end' });
    return this;
  }

  /** The bytes for the server, once. */
  send(): Uint8Array {
    return joined(this.#parts.splice(0));
  }

  /** An error skipped an end, so `cleanUpAfter` is due. */
  isUnclean(): boolean {
    return this.#hasOurs || this.#isAborted;
  }

  /** A limit of the session was over before the guard was in force: nothing has happened, another try may do. */
  isCutShort(): boolean {
    return this.#error?.request === GUARD && this.#error.sqlState === CANCELED;
  }

  /** The next bytes of the server. Undefined: replies are due. */
  take(chunk: Uint8Array): PipelineEnd | undefined {
    this.#reader.add(chunk);
    while (this.#due.length > 0 && !this.#isOver) {
      const message = this.#reader.next();
      if (message === undefined) return undefined;
      if (message.kind === 'invalid') return { kind: 'over', error: this.#error };
      this.#read(message.type, message.body, message.bytes);
    }
    return { kind: this.#isOver ? 'over' : 'ready', error: this.#error };
  }

  /** The bytes after the last reply. When the session is over: all that no request has read. */
  rest(): Uint8Array {
    return this.#reader.rest();
  }

  /** `body` is undefined for a message that was too long. */
  #read(type: string, body: Uint8Array | undefined, bytes: Uint8Array): void {
    switch (type) {
      case 'S':
      case 'A':
      case 'N':
        return this.#readUnasked(type, body, bytes);
      case 'E':
        return this.#fail(body ?? new Uint8Array(0), bytes);
      default:
        this.#readReply(type, body);
    }
  }

  #readUnasked(type: 'S' | 'A' | 'N', body: Uint8Array | undefined, bytes: Uint8Array): void {
    this.#unasked += bytes.length + PLACE_BYTES;
    if (this.#unasked > MOST_UNASKED) this.#isOver = true;
    else if (type === 'S') this.#readParameter(body, bytes);
    else if (type === 'A') this.#onNotification(bytes);
  }

  #readReply(type: string, body: Uint8Array | undefined): void {
    const due = this.#due[0];
    const awaited = due?.type;
    if (type === 'D' && awaited === 'C') {
      const row = body && rowOf(body);
      if (row !== undefined) due?.onRow?.(row);
      return;
    }
    if (type === 't' && awaited === 'T') {
      this.#parameterTypes = typesOf(body);
      return;
    }
    const isAwaited = type === awaited || (type === 'n' && awaited === 'T') || (type === 'I' && awaited === 'C');
    if (due === undefined || !isAwaited) {
      this.#isOver = true;
      return;
    }
    this.#due.shift();
    if (due.isOurs) this.#hasOurs = type === '1';
    if (type === 'Z') this.#readStatus(body?.[0]);
    due.onDescription?.({
      parameterTypes: this.#parameterTypes,
      resultColumns: type === 'T' ? columnsOf(body) : undefined,
    });
  }

  /** Our transaction has ended, or an error has made it fail. */
  #readStatus(status: number | undefined): void {
    this.#isAborted = status === FAILED && this.#error !== undefined;
    this.#isOver ||= status !== IDLE && !this.#isAborted;
  }

  #readParameter(body: Uint8Array | undefined, bytes: Uint8Array): void {
    const parameter = body && readParameter(body, 0, body.length);
    if (parameter === undefined) this.#isOver = true;
    else this.#onParameter(parameter[0], parameter[1], bytes);
  }

  /** The server skips what follows until the next Sync. */
  #fail(body: Uint8Array, bytes: Uint8Array): void {
    const request = this.#due[0]?.request ?? '';
    const error = serverError(body, request);
    if (error.isFatal) {
      this.#error = error;
      this.#isOver = true;
      this.#reader.putBack(bytes);
      return;
    }
    this.#error ??= error;
    while (this.#due.length > 0 && this.#due[0]?.type !== 'Z') this.#due.shift();
  }

  #add(type: string, parts: readonly Uint8Array[] = []): void {
    this.#parts.push(message(type, parts));
  }
}

/**
 * The server would refuse a Bind of the unnamed statement as well: what the text names is gone, is another thing, or
 * may not be used; the columns have changed (0A000); there is no such statement (26000).
 */
export function refusesUnnamed(error: ServerError | undefined): boolean {
  return error?.request === UNNAMED && /^(?:42|3F|26|0A)/.test(error.sqlState);
}

function bindOf(values: readonly string[]): Uint8Array {
  const encoded = values.map(text);
  const parameters = encoded.flatMap((value) => [int32(value.length), value]);
  return message('B', [text('\0'), STATEMENT, NONE, int16(encoded.length), ...parameters, NONE]);
}

/** Name and text in the body of a Parse message, each with its NUL. */
function nameAndText(message: Uint8Array): Uint8Array {
  const textAt = message.indexOf(0, HEADER) + 1;
  return message.subarray(HEADER, message.indexOf(0, textAt) + 1);
}

function text(value: string): Uint8Array {
  return ENCODER.encode(value);
}
