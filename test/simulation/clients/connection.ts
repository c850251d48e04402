// One connection of a simulated client: speaks the PostgreSQL protocol by hand, and tells how each request ended.
import type { Socket } from 'node:net';
import { aMessage, SYNC, TERMINATE } from '../../support/sockets/messages.ts';
import { aBind, aCancelRequest, anExecute, aParse, aQuery, aStartup, Fields, Frames } from '../postgres/messages.ts';
import type { Host } from '../world/world.ts';

export interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly detail: string;
}

/** How a request ended. */
export type RequestEnd =
  | {
      readonly kind: 'done';
      readonly rows: readonly (readonly (string | null)[])[];
      /** The tag of the last statement. */
      readonly tag: string;
      /** Warnings among it: a commit that may be lost. */
      readonly notices: readonly string[];
    }
  | ({ readonly kind: 'failed' } & ServerError)
  /** The connection is over: nobody knows what became of the request. `code`: of the server's last words. */
  | { readonly kind: 'lost'; readonly code: string | undefined; readonly why: string };

export interface ConnectionOptions {
  readonly host: Host;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly applicationName: string;
  /** Tells this session from all others, in the option app.session. */
  readonly session: string;
  /** The client gives up after this time without an end. Milliseconds. */
  readonly patienceMs: number;
}

/** A request that a cancel request has hit fails with this code. */
export const CANCELED = '57014';
/** Pointsman has ended the transaction of a request that fails with this code. */
export const ROLLED_BACK = '40001';
/** In the DETAIL of Pointsman's own answer to a cancel request. */
const TAKEN_OUT = 'it waited in Pointsman';

/** How Pointsman answered the request itself: it waited, or its transaction is void. Undefined: it did not. */
export function answeredHere(end: RequestEnd): 'waited' | 'void' | undefined {
  if (end.kind !== 'failed') return undefined;
  if (end.code === ROLLED_BACK) return 'void';
  return end.detail.includes(TAKEN_OUT) ? 'waited' : undefined;
}

interface PendingRequest {
  readonly from: number;
  readonly resolve: (end: RequestEnd) => void;
  readonly rows: (string | null)[][];
  readonly notices: string[];
  tag: string;
  error: ServerError | undefined;
  readonly cancelLimit: () => void;
}

export class Connection {
  readonly parameters = new Map<string, string>();
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #frames = new Frames(false);
  /** In the order of their requests: several may be under way. */
  readonly #pending: PendingRequest[] = [];
  #lastWords: string | undefined;
  #isOver = false;
  #isHalfClosed = false;
  #process = 0;
  #secret = 0;
  /** As in ReadyForQuery. */
  #status = '';
  /** The server has ended the connection between two requests. */
  onEnd: (code: string | undefined) => void = () => {};
  /** A request has ended, in whatever way. `from`: when it began. */
  onAnswered: (from: number) => void = () => {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { host, address, port } = options;
    this.#socket = host.connect(port, address);
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('end', () => this.#end('closed by the server'));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? 'error'));
    this.#socket.on('close', () => this.#end('closed'));
  }

  /** Logs in. */
  open(): Promise<RequestEnd> {
    const { user, database, applicationName, session } = this.#options;
    const options = `-c app.session=${session}`;
    this.#socket.on('connect', () => {
      this.#socket.write(aStartup({ user, database, application_name: applicationName, options }));
    });
    return this.#await();
  }

  query(sql: string): Promise<RequestEnd> {
    return this.#request(aQuery(sql));
  }

  /** Parse, and Sync. */
  prepare(name: string, sql: string): Promise<RequestEnd> {
    return this.#request(aParse(name, sql), SYNC);
  }

  /** Bind, Execute and Sync of a prepared statement. */
  execute(name: string, values: readonly string[]): Promise<RequestEnd> {
    return this.#request(aBind(name, values), anExecute(), SYNC);
  }

  /** All at once, as drivers with the unnamed statement do. */
  run(sql: string, values: readonly string[]): Promise<RequestEnd> {
    return this.#request(aParse('', sql), aBind('', values), aMessage('D', Buffer.from('P\0')), anExecute(), SYNC);
  }

  status(): string {
    return this.#status;
  }

  isOver(): boolean {
    return this.#isOver;
  }

  /** The oldest request without an answer. */
  waitsSince(): number | undefined {
    return this.#pending[0]?.from;
  }

  /** A connection of its own, as libpq makes it. */
  cancel(): void {
    const { host, address, port } = this.#options;
    const socket = host.connect(port, address);
    socket.on('connect', () => socket.end(aCancelRequest(this.#process, this.#secret)));
    socket.on('error', () => socket.destroy()).on('end', () => socket.destroy());
    socket.resume();
  }

  /** Ends its half without a word, and goes on reading. */
  halfClose(): void {
    if (this.#isOver || this.#isHalfClosed) return;
    this.#isHalfClosed = true;
    this.#socket.end();
  }

  /** Its machine resets the connection. */
  reset(): void {
    if (this.#isOver) return;
    this.#socket.resetAndDestroy();
    this.#end('reset by itself');
  }

  /** Says goodbye. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#isHalfClosed) this.#socket.end(TERMINATE);
    this.#socket.on('close', () => this.#socket.destroy());
    this.#options.host.clock.schedule(1_000, () => this.#socket.destroy());
  }

  /** The program is killed. */
  drop(): void {
    this.#end('dropped');
  }

  #request(...messages: readonly Uint8Array[]): Promise<RequestEnd> {
    if (this.#isOver || this.#isHalfClosed) return Promise.resolve(this.#loss('closed before the request'));
    this.#socket.write(Buffer.concat(messages));
    return this.#await();
  }

  #await(): Promise<RequestEnd> {
    const { host, patienceMs } = this.#options;
    const { promise, resolve } = Promise.withResolvers<RequestEnd>();
    const cancelLimit = host.clock.schedule(patienceMs, () => this.#end('no answer in time'));
    this.#pending.push({ from: host.now(), resolve, rows: [], notices: [], tag: '', error: undefined, cancelLimit });
    return promise;
  }

  #take(chunk: Buffer): void {
    this.#frames.add(chunk);
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) {
      this.#read(frame.type, frame.body);
    }
  }

  #read(type: string, body: Buffer): void {
    const fields = new Fields(body);
    const [request] = this.#pending;
    switch (type) {
      case 'S':
        this.parameters.set(fields.text(), fields.text());
        break;
      case 'K':
        this.#process = fields.int32();
        this.#secret = fields.int32();
        break;
      case 'D':
        request?.rows.push(Array.from({ length: fields.int16() }, () => fields.value()));
        break;
      case 'C':
        if (request !== undefined) request.tag = fields.text();
        break;
      case 'N':
        request?.notices.push(errorIn(fields).code);
        break;
      case 'E': {
        const error = errorIn(fields);
        if (error.isFatal) this.#lastWords = error.code;
        if (request !== undefined) request.error = error;
        break;
      }
      case 'Z':
        this.#status = fields.kind();
        this.#finish();
    }
  }

  #finish(): void {
    const request = this.#pending.shift();
    if (request === undefined) return;
    request.cancelLimit();
    this.onAnswered(request.from);
    const { rows, notices, tag, error } = request;
    if (error === undefined) request.resolve({ kind: 'done', rows, tag, notices });
    else request.resolve({ ...error, kind: 'failed' });
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    const requests = this.#pending.splice(0);
    if (requests.length === 0) this.onEnd(this.#lastWords);
    for (const { from, cancelLimit, resolve } of requests) {
      cancelLimit();
      this.onAnswered(from);
      resolve(this.#loss(why));
    }
  }

  #loss(why: string): RequestEnd {
    return { kind: 'lost', code: this.#lastWords, why };
  }
}

interface ServerWords extends ServerError {
  readonly isFatal: boolean;
}

function errorIn(fields: Fields): ServerWords {
  const texts = new Map<string, string>();
  for (let kind = fields.kind(); kind !== '\0' && !fields.isAtEnd(); kind = fields.kind())
    texts.set(kind, fields.text());
  const severity = texts.get('V') ?? texts.get('S');
  return {
    isFatal: severity === 'FATAL' || severity === 'PANIC',
    code: texts.get('C') ?? '',
    message: texts.get('M') ?? '',
    detail: texts.get('D') ?? '',
  };
}
