// One process of a simulated server: speaks the protocol with one client, one message after another.
import type { Socket } from 'node:net';
import { AUTHENTICATION_OK, aMessage, aNumber, backendKeyData } from '../../support/sockets/messages.ts';
import { errorOf, parameterStatus, readyForQuery } from '../../support/sockets/messages.ts';
import { commandComplete, dataRow, Fields, parameterDescription, rowDescription } from './messages.ts';
import type { Frame, Frames } from './messages.ts';
import { answerQuestion, type WalSource } from './questions.ts';
import {
  describedColumns,
  readStatement,
  ServerSession,
  SqlError,
  type Answer,
  type Preparation,
  type SessionHost,
} from './session.ts';
import { statementTexts } from './statement.ts';
import type { Wait, Work } from './wait.ts';

/** The server as one of its processes sees it. */
export interface BackendHost extends SessionHost, WalSource {
  /** As a client reads it: 16.4. */
  readonly version: string;
  readonly secret: number;
  /** The result of the last commit goes to its client. */
  confirms(session: ServerSession): void;
  /** The process is gone. */
  ended(backend: Backend): void;
}

interface Portal {
  readonly preparation: Preparation;
  readonly value: string | null | undefined;
}

const REPORTED = ['client_encoding', 'application_name', 'DateStyle', 'default_transaction_read_only', 'IntervalStyle'];
const ALSO_REPORTED = ['standard_conforming_strings', 'TimeZone'];

export class Backend {
  readonly session: ServerSession;
  readonly #host: BackendHost;
  readonly #socket: Socket;
  readonly #frames: Frames;
  readonly #portals = new Map<string, Portal>();
  readonly #told = new Map<string, string>();
  #out: Buffer[] = [];
  #work: Work | undefined;
  #giveUp: (() => void) | undefined;
  #waitsFor: Wait['for'] | undefined;
  #isSkipping = false;
  #isHungUp = false;
  #isOver = false;
  #isTorn = false;

  constructor(
    host: BackendHost,
    socket: Socket,
    frames: Frames,
    startup: ReadonlyMap<string, string>,
    process: number,
  ) {
    this.#host = host;
    this.#socket = socket;
    this.#frames = frames;
    this.session = new ServerSession(host, startup, process);
  }

  /** The login is over: everybody is trusted. */
  welcome(): void {
    this.#out.push(AUTHENTICATION_OK);
    this.#tell('server_version', this.#host.version);
    this.#tell('server_encoding', 'UTF8');
    this.#tell('integer_datetimes', 'on');
    this.#tell('is_superuser', 'off');
    this.#tell('session_authorization', this.session.user);
    this.#report();
    this.#out.push(backendKeyData(this.session.process, aNumber(this.#host.secret)), readyForQuery('I'));
    this.#send();
    this.read();
  }

  take(chunk: Uint8Array): void {
    this.#frames.add(chunk);
    this.read();
  }

  /** Goes on with what the client has sent. */
  read(): void {
    while (this.#work === undefined && !this.#isOver) {
      const frame = this.#frames.next();
      if (frame === undefined) break;
      this.#start(this.#answer(frame));
    }
    if (this.#isTorn && this.#work === undefined && this.#out.length > 0) return this.#breakOff();
    this.#send();
    if (this.#isHungUp && this.#work === undefined) this.end();
  }

  /** A cancel request, which may come too late. */
  cancel(): void {
    if (this.#waitsFor === undefined || this.#waitsFor === 'disk') return;
    this.#giveUp?.();
    this.#goOn('canceled');
    this.read();
  }

  /** The client has closed its end. A process that works notices it afterwards. */
  hangUp(): void {
    this.#isHungUp = true;
    if (this.#work === undefined) this.end();
  }

  /** A process that is stopped reads nothing. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#socket.pause();
    else this.#socket.resume();
  }

  /** The server ends the session with an error. A process that waits for a standby has nothing but a warning. */
  terminate(code: string, message: string): void {
    if (this.#isOver) return;
    if (this.#waitsFor === 'standby')
      this.#warn(code, `canceling the wait for synchronous replication, and ${message}`);
    else this.#out.push(errorOf(['SFATAL', 'VFATAL', `C${code}`, `M${message}`]));
    this.#send();
    this.end();
  }

  /** The server ends at once, as after a crash of one of its processes: a warning, and no error. */
  quickDie(code: string, message: string): void {
    this.#warn(code, message);
    this.#send();
    this.end();
  }

  /** The network resets the connection in the middle of the next answer. */
  tear(): void {
    this.#isTorn = true;
  }

  /** The process exits: its transaction is rolled back. */
  end(): void {
    if (this.#isOver) return;
    this.#leave();
    this.#socket.destroySoon();
  }

  /** The process is gone without a word, and without any work. */
  kill(): void {
    this.#isOver = true;
    this.#giveUp?.();
    this.#work = undefined;
    this.#socket.resetAndDestroy();
  }

  #leave(): void {
    this.#isOver = true;
    this.#giveUp?.();
    this.#work = undefined;
    this.session.rollback();
    this.#host.ended(this);
  }

  #breakOff(): void {
    const bytes = Buffer.concat(this.#out);
    this.#leave();
    this.#socket.write(bytes.subarray(0, bytes.length / 2), () => this.#socket.resetAndDestroy());
  }

  #start(work: Work): void {
    this.#work = work;
    this.#goOn(undefined);
  }

  #goOn(interruption: 'canceled' | undefined): void {
    if (this.#isOver || this.#work === undefined) return;
    this.#waitsFor = undefined;
    this.#giveUp = undefined;
    const step = this.#work.next(interruption);
    if (step.done === true) {
      this.#work = undefined;
      return;
    }
    this.#send();
    this.#waitsFor = step.value.for;
    this.#giveUp = step.value.begin(() => {
      this.#goOn(undefined);
      if (this.#work === undefined) this.read();
    });
  }

  *#answer(frame: Frame): Work {
    if (this.#isSkipping && frame.type !== 'S' && frame.type !== 'X') return;
    try {
      yield* this.#perform(frame);
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      this.#out.push(errorOf(['SERROR', 'VERROR', `C${error.code}`, `M${error.message}`]));
      this.session.fail();
      if (frame.type === 'Q') this.#ready();
      else this.#isSkipping = true;
    }
  }

  *#perform({ type, body }: Frame): Work {
    const fields = new Fields(body);
    switch (type) {
      case 'Q':
        return yield* this.#query(fields.text());
      case 'P':
        return this.#parse(fields);
      case 'B':
        return this.#bind(fields);
      case 'D':
        return this.#describe(fields);
      case 'E': {
        const { preparation, value } = this.#portals.get(fields.text()) ?? noPortal();
        return this.#complete(yield* this.#execute(preparation, value));
      }
      case 'C':
        return this.#close(fields);
      case 'S':
        this.#isSkipping = false;
        yield* this.session.endStatements();
        return this.#ready();
      case 'H':
        return undefined;
      case 'X':
        return this.end();
      default:
        return this.terminate('08P01', `invalid frontend message type ${type}`);
    }
  }

  *#query(sql: string): Work {
    this.session.prepared.delete('');
    const texts = statementTexts(sql);
    // The whole text is read before any of it runs.
    for (const text of texts) readStatement(text);
    for (const [index, text] of texts.entries()) {
      const preparation = this.session.prepare(text, []);
      const answer = yield* this.#execute(preparation, undefined);
      const columns = describedColumns(preparation, this.session);
      if (index === texts.length - 1) yield* this.session.endStatements();
      if (preparation.statement?.kind === 'empty') this.#out.push(aMessage('I'));
      else {
        if (columns !== undefined) this.#out.push(rowDescription(columns));
        this.#complete(answer);
      }
    }
    this.#ready();
  }

  *#execute(preparation: Preparation, value: string | null | undefined): Work<Answer> {
    if (preparation.statement !== undefined) return yield* this.session.run(preparation, value);
    this.session.settings.begin();
    const rows = answerQuestion(preparation.sql, value, this.session, this.#host);
    return { tag: `SELECT ${rows.length}`, rows };
  }

  #parse(fields: Fields): void {
    const name = fields.text();
    const sql = fields.text();
    const types = Array.from({ length: fields.int16() }, () => fields.int32());
    if (name === '') this.session.prepared.delete('');
    const preparation = this.session.prepare(sql, types);
    if (name !== '' && this.session.prepared.has(name)) {
      throw new SqlError('42P05', `prepared statement "${name}" already exists`);
    }
    this.session.prepared.set(name, preparation);
    this.#out.push(aMessage('1'));
  }

  #bind(fields: Fields): void {
    const portal = fields.text();
    const preparation = this.session.preparation(fields.text());
    for (let formats = fields.int16(); formats > 0; formats -= 1) fields.int16();
    const values = Array.from({ length: fields.int16() }, () => fields.value());
    const needed = preparation.statement === undefined ? values.length : preparation.parameterTypes.length;
    if (values.length !== needed) throw new SqlError('08P01', `${values.length} parameters instead of ${needed}`);
    this.session.refuseIfFailed(preparation.statement?.kind);
    const [value] = values;
    this.#portals.set(portal, { preparation, value });
    this.#out.push(aMessage('2'));
  }

  #describe(fields: Fields): void {
    const isStatement = fields.kind() === 'S';
    const name = fields.text();
    const preparation = isStatement
      ? this.session.preparation(name)
      : (this.#portals.get(name) ?? noPortal()).preparation;
    const columns = describedColumns(preparation, this.session);
    if (columns !== undefined) this.session.refuseIfFailed(undefined);
    if (isStatement) this.#out.push(parameterDescription(preparation.parameterTypes));
    this.#out.push(columns === undefined ? aMessage('n') : rowDescription(columns));
  }

  #close(fields: Fields): void {
    if (fields.kind() === 'S') this.session.prepared.delete(fields.text());
    this.#out.push(aMessage('3'));
  }

  #complete({ tag, rows }: Answer): void {
    for (const row of rows) this.#out.push(dataRow(row));
    this.#out.push(commandComplete(tag));
  }

  #ready(): void {
    if (this.session.unconfirmed.some(({ isLocalOnly }) => isLocalOnly)) {
      this.#warn('01000', 'canceling wait for synchronous replication due to user request');
    }
    this.#report();
    this.#out.push(readyForQuery(this.session.status()));
    this.#host.confirms(this.session);
  }

  #warn(code: string, message: string): void {
    this.#out.push(errorOf(['SWARNING', 'VWARNING', `C${code}`, `M${message}`], 'N'));
  }

  /** Settings whose values have changed. */
  #report(): void {
    const { settings } = this.session;
    for (const name of [...REPORTED, ...ALSO_REPORTED]) this.#tell(name, settings.value(name) ?? '');
    if (this.#host.version >= '18') this.#tell('search_path', settings.value('search_path') ?? '');
    this.#tell('in_hot_standby', this.#host.isInRecovery() ? 'on' : 'off');
  }

  #tell(name: string, value: string): void {
    if (this.#told.get(name) === value) return;
    this.#told.set(name, value);
    this.#out.push(parameterStatus(name, value));
  }

  #send(): void {
    if (this.#out.length === 0 || !this.#socket.writable) return;
    this.#socket.write(Buffer.concat(this.#out));
    this.#out = [];
  }
}

function noPortal(): never {
  throw new SqlError('34000', 'portal does not exist');
}
