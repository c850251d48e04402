// The extended protocol, which some drivers use even for a statement without parameters (pgjdbc, psycopg in a
// pipeline). Results are in text format. A client's statements and portals are few, so that they stay small.
import type { ErrorFields } from '../wire/messages/error-response.ts';
import { BodyReader } from '../wire/messages/client-messages.ts';
import {
  BIND_COMPLETE,
  CLOSE_COMPLETE,
  EMPTY_QUERY,
  NO_DATA,
  NO_PARAMETERS,
  PARSE_COMPLETE,
  PORTAL_SUSPENDED,
  encodeRowDescription,
} from '../wire/messages/server-messages.ts';
import type { Value } from '../wire/messages/server-messages.ts';
import { statementError as failed, type StatementAnswer } from './statement-answer.ts';
import { ProtocolViolation, required as read, type ConsoleMessage } from './incoming.ts';
import type { SendBytes } from './login.ts';

const MOST_NAMES = 64;

/** Undefined: the empty statement. An error is reported by Parse, so nothing that is kept has one. */
export type ConsoleStatement = Exclude<StatementAnswer, { kind: 'error' }> | undefined;

interface Portal {
  readonly prepared: ConsoleStatement;
  /** The rows that an Execute with a limit has left. Undefined: not executed yet. */
  rest: readonly (readonly Value[])[] | undefined;
}

export interface ExtendedOptions {
  readonly send: SendBytes;
  readonly prepare: (query: string) => ConsoleStatement | ErrorFields;
  readonly rowsOf: (prepared: NonNullable<ConsoleStatement>) => Promise<readonly (readonly Value[])[]>;
  readonly sendRows: (rows: readonly (readonly Value[])[]) => Promise<void>;
  readonly complete: (prepared: NonNullable<ConsoleStatement>) => Promise<void>;
}

/** Each message gets its replies, or the error that is returned. */
export class ExtendedQueries {
  readonly #options: ExtendedOptions;
  readonly #statements = new Map<string, ConsoleStatement>();
  readonly #portals = new Map<string, Portal>();

  constructor(options: ExtendedOptions) {
    this.#options = options;
  }

  /** Every portal ends with its transaction, which is the exchange up to Sync. */
  endPortals(): void {
    this.#portals.clear();
  }

  async handle({ type, body }: ConsoleMessage): Promise<ErrorFields | undefined> {
    const reader = new BodyReader(body);
    switch (type) {
      case 'P':
        return this.#parse(reader);
      case 'B':
        return this.#bind(reader);
      case 'D':
        return this.#describe(reader);
      case 'E':
        return this.#execute(reader);
      case 'C':
        return this.#close(reader);
      default:
        throw new ProtocolViolation(`unexpected message type ${JSON.stringify(type)}`);
    }
  }

  async #parse(reader: BodyReader): Promise<ErrorFields | undefined> {
    const [name, query] = [read(reader.text()), read(reader.text())];
    const prepared = this.#options.prepare(query);
    if (prepared !== undefined && 'sqlState' in prepared) return prepared;
    if (name !== '' && this.#statements.has(name)) return failed('42P05', 'the prepared statement exists already');
    if (this.#statements.size >= MOST_NAMES) return failed('54000', `more than ${MOST_NAMES} prepared statements`);
    this.#statements.set(name, prepared);
    await this.#options.send(PARSE_COMPLETE);
    return undefined;
  }

  async #bind(reader: BodyReader): Promise<ErrorFields | undefined> {
    const [portal, name] = [read(reader.text()), read(reader.text())];
    if (!this.#statements.has(name)) return failed('26000', 'there is no such prepared statement');
    for (let left = read(reader.int16()); left > 0; left -= 1) read(reader.int16());
    if (read(reader.int16()) > 0) return failed('08P01', 'statements of this console have no parameters');
    for (let left = read(reader.int16()); left > 0; left -= 1) {
      if (read(reader.int16()) === 1) return failed('0A000', 'results are in text format only, not in binary');
    }
    if (this.#portals.size >= MOST_NAMES) return failed('54000', `more than ${MOST_NAMES} portals`);
    this.#portals.set(portal, { prepared: this.#statements.get(name), rest: undefined });
    await this.#options.send(BIND_COMPLETE);
    return undefined;
  }

  async #describe(reader: BodyReader): Promise<ErrorFields | undefined> {
    const [kind, name] = [read(reader.byte()), read(reader.text())];
    if (kind === 'S') {
      if (!this.#statements.has(name)) return failed('26000', 'there is no such prepared statement');
      await this.#options.send(NO_PARAMETERS);
      await this.#options.send(description(this.#statements.get(name)));
      return undefined;
    }
    const portal = this.#portals.get(name);
    if (portal === undefined) return failed('34000', 'there is no such portal');
    await this.#options.send(description(portal.prepared));
    return undefined;
  }

  async #execute(reader: BodyReader): Promise<ErrorFields | undefined> {
    const [name, most] = [read(reader.text()), read(reader.int32())];
    const portal = this.#portals.get(name);
    if (portal === undefined) return failed('34000', 'there is no such portal');
    const { prepared } = portal;
    const { send, rowsOf, sendRows, complete } = this.#options;
    if (prepared === undefined) {
      await send(EMPTY_QUERY);
      return undefined;
    }
    const rows = portal.rest ?? (await rowsOf(prepared));
    const now = most > 0 ? rows.slice(0, most) : rows;
    portal.rest = rows.slice(now.length);
    await sendRows(now);
    if (portal.rest.length > 0) await send(PORTAL_SUSPENDED);
    else await complete(prepared);
    return undefined;
  }

  async #close(reader: BodyReader): Promise<undefined> {
    const [kind, name] = [read(reader.byte()), read(reader.text())];
    if (kind === 'S') this.#statements.delete(name);
    else this.#portals.delete(name);
    await this.#options.send(CLOSE_COMPLETE);
  }
}

function description(prepared: ConsoleStatement): Uint8Array {
  return prepared?.kind === 'show' ? encodeRowDescription(prepared.show.columns) : NO_DATA;
}
