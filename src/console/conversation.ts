// One client's session, from its first byte to its last: bytes in, bytes out. Sockets and deadlines are the server's
// (console-server.ts). The next message is read when the last one is answered and the client has taken the answer.
import { encodeErrorResponse, encodeNotice, type ErrorFields } from '../wire/messages/error-response.ts';
import { BodyReader } from '../wire/messages/client-messages.ts';
import {
  EMPTY_QUERY,
  encodeCommandComplete,
  encodeDataRow,
  encodeParameterStatus,
  encodeReadyForQuery,
  encodeRowDescription,
  joined,
} from '../wire/messages/server-messages.ts';
import type { BlockStatus, Value } from '../wire/messages/server-messages.ts';
import { answerTo, statementError, type StatementAnswer, type AnswerOptions } from './statement-answer.ts';
import { ExtendedQueries, type ConsoleStatement } from './extended.ts';
import { ConsoleInput, ProtocolViolation, required, type ConsoleMessage } from './incoming.ts';
import { logIn, type ReaderCheck, type Right, type SendBytes } from './login.ts';
import { parametersOf } from './parameters.ts';
import type { ConsoleSources } from './console-table.ts';
import { statementsOf } from './statements.ts';

const MOST_STATEMENTS = 32;
/** Rows that are encoded before the client has taken those before them. */
const ROWS_AT_ONCE = 200;

export interface ConversationOptions {
  readonly sources: ConsoleSources;
  /** The proof that a client needs, as it is at its login. */
  readonly access: () => Promise<ReaderCheck>;
  /** Resolves when the client has taken enough of it. Rejects when it is gone. */
  readonly send: SendBytes;
  readonly onLogin: () => void;
}

/** Resolves when nothing more is to be said. */
export async function converse(chunks: AsyncIterable<Uint8Array>, options: ConversationOptions): Promise<void> {
  const { send, access, sources, onLogin } = options;
  const incoming = new ConsoleInput(chunks);
  try {
    const right = await logIn(incoming, send, access);
    if (right === undefined) return;
    onLogin();
    await new ConsoleConversation(sources, send, right).run(incoming);
  } catch (error) {
    if (!(error instanceof ProtocolViolation)) throw error;
    await send(encodeErrorResponse({ sqlState: '08P01', message: error.message }));
  }
}

class ConsoleConversation {
  readonly #sources: ConsoleSources;
  readonly #send: SendBytes;
  readonly #context: AnswerOptions;
  readonly #extended: ExtendedQueries;
  #status: BlockStatus = 'idle';
  /** After an error in the extended protocol everything up to Sync is discarded. */
  #isSkipping = false;

  constructor(sources: ConsoleSources, send: SendBytes, right: Right) {
    this.#sources = sources;
    this.#send = send;
    this.#context = { parameters: parametersOf(sources.version), hasToken: right === 'token' };
    this.#extended = new ExtendedQueries({
      send,
      prepare: (query) => this.#prepare(query),
      rowsOf: (prepared) => this.#rowsOf(prepared),
      sendRows: (rows) => this.#sendRows(rows),
      complete: (prepared) => this.#complete(prepared),
    });
  }

  async run(incoming: ConsoleInput): Promise<void> {
    const told = [...this.#context.parameters].map(([name, value]) => encodeParameterStatus(name, value));
    await this.#send(joined([...told, encodeReadyForQuery(this.#status)]));
    for (let message = await incoming.message(); message !== undefined; message = await incoming.message()) {
      if (message.type === 'X') return;
      await this.#handle(message);
    }
  }

  async #handle(message: ConsoleMessage): Promise<void> {
    switch (message.type) {
      case 'S':
        this.#isSkipping = false;
        if (this.#status === 'idle') this.#extended.endPortals();
        return this.#ready();
      case 'H':
      // A driver sends these after the error that refused its COPY.
      case 'c':
      case 'd':
      case 'f':
        return undefined;
      case 'Q':
        return this.#query(required(new BodyReader(message.body).text()));
      case 'F':
        await this.#fail(statementError('0A000', 'function calls are not supported'));
        return this.#ready();
      default:
        return this.#handleExtended(message);
    }
  }

  async #handleExtended(message: ConsoleMessage): Promise<void> {
    if (this.#isSkipping) return;
    const error = await this.#extended.handle(message).catch(errorOf);
    if (error === undefined) return;
    this.#isSkipping = true;
    await this.#fail(error);
  }

  /** All statements up to the first error. */
  async #query(query: string): Promise<void> {
    this.#isSkipping = false;
    const statements = statementsOf(query);
    if (statements.length === 0) await this.#send(EMPTY_QUERY);
    if (statements.length > MOST_STATEMENTS) {
      await this.#fail(statementError('54000', `more than ${MOST_STATEMENTS} statements in one query`));
    } else {
      for (const statement of statements) {
        const answer = answerTo(statement, this.#context);
        const error = answer.kind === 'error' ? answer.fields : await this.#run(answer).catch(errorOf);
        if (error !== undefined) {
          await this.#fail(error);
          break;
        }
      }
    }
    await this.#ready();
  }

  async #run(answer: NonNullable<ConsoleStatement>): Promise<undefined> {
    const rows = await this.#rowsOf(answer);
    if (answer.kind === 'show') await this.#send(encodeRowDescription(answer.show.columns));
    await this.#sendRows(rows);
    await this.#complete(answer);
  }

  #prepare(query: string): ConsoleStatement | ErrorFields {
    const [statement, second] = statementsOf(query);
    if (second !== undefined) return statementError('42601', 'a prepared statement is one statement');
    const answer: StatementAnswer | undefined = statement && answerTo(statement, this.#context);
    return answer?.kind === 'error' ? answer.fields : answer;
  }

  async #rowsOf(prepared: NonNullable<ConsoleStatement>): Promise<readonly (readonly Value[])[]> {
    if (prepared.kind !== 'show') return [];
    const { rows, notice } = await prepared.show.read(this.#sources);
    if (notice !== undefined) await this.#send(encodeNotice(notice));
    return rows;
  }

  async #sendRows(rows: readonly (readonly Value[])[]): Promise<void> {
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      await this.#send(joined(rows.slice(from, from + ROWS_AT_ONCE).map((row) => encodeDataRow(row))));
    }
  }

  async #complete(prepared: NonNullable<ConsoleStatement>): Promise<void> {
    if (prepared.kind === 'done') this.#status = prepared.status ?? this.#status;
    await this.#send(encodeCommandComplete(prepared.kind === 'done' ? prepared.tag : 'SHOW'));
  }

  async #fail(fields: ErrorFields): Promise<void> {
    await this.#send(encodeErrorResponse(fields));
  }

  async #ready(): Promise<void> {
    await this.#send(encodeReadyForQuery(this.#status));
  }
}

/** The error of a statement that could not be answered. */
function errorOf(error: unknown): ErrorFields {
  if (error instanceof ProtocolViolation) throw error;
  const message = error instanceof Error ? error.message : String(error);
  return statementError('XX000', message);
}
