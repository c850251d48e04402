// Reads all registers again and again on one connection, with little processor time: the bytes of its requests are made
// once. In turns: one simple query, one by the extended protocol, a transaction with a snapshot, a pipeline.
import type { Client } from 'pg';

/** A register as one read shows it. */
export interface Shown {
  readonly id: number;
  readonly epoch: number;
  readonly n: number;
  readonly server: string;
}

/** One read: what it showed, or the SQLSTATE of its error. */
export type Answer = { readonly shown: readonly Shown[] } | { readonly sqlState: string };

/** Requests that are sent at once. */
interface Chunk {
  readonly bytes: Buffer;
  /** Each ends with ReadyForQuery; true: it is a read. */
  readonly isRead: readonly boolean[];
}

const PIPELINED = 16;
const HEADER = 5;

export class RegisterReader {
  readonly #stream: Client['connection']['stream'];
  readonly #chunks: readonly Chunk[];
  #turn: number;
  #rest: Buffer = Buffer.alloc(0);
  #shown: Shown[] = [];
  #sqlState: string | undefined;
  #awaited: readonly boolean[] = [];
  #at = 0;
  #answers: Answer[] = [];
  #done: ((answers: readonly Answer[]) => void) | undefined;
  readonly #ended = Promise.withResolvers<never>();

  /** `client` is connected, and no longer of use for anything else. */
  constructor(client: Client, { registers, turn }: { readonly registers: number; readonly turn: number }) {
    this.#stream = client.connection.stream;
    this.#turn = turn;
    this.#chunks = chunksFor(
      `select id, epoch, n, host(inet_server_addr()) from registers where id < ${registers} order by id`,
    );
    this.#ended.promise.catch(() => undefined);
    this.#stream.removeAllListeners('data');
    this.#stream.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#stream.on('error', (error) => this.#ended.reject(error));
    this.#stream.on('close', () => this.#ended.reject(new Error(this.#sqlState ?? 'closed')));
  }

  /** The next chunk is on its way when this returns. Rejects when the connection ends. */
  read(): Promise<readonly Answer[]> {
    const chunk = this.#chunks[this.#turn % this.#chunks.length];
    if (chunk === undefined) throw new Error('there is no chunk');
    this.#turn += 1;
    this.#awaited = chunk.isRead;
    this.#at = 0;
    this.#answers = [];
    this.#stream.write(chunk.bytes);
    const answered = new Promise<readonly Answer[]>((resolve) => (this.#done = resolve));
    return Promise.race([answered, this.#ended.promise]);
  }

  #take(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (at + HEADER <= all.length) {
      const end = at + 1 + all.readInt32BE(at + 1);
      if (end > all.length) break;
      this.#message(all[at] ?? 0, all.subarray(at + HEADER, end));
      at = end;
    }
    this.#rest = all.subarray(at);
  }

  #message(kind: number, body: Buffer): void {
    switch (kind) {
      case 0x44: // DataRow
        this.#shown.push(shownIn(body));
        break;
      case 0x45: // ErrorResponse
        this.#sqlState = sqlStateIn(body);
        break;
      case 0x5a: // ReadyForQuery
        this.#ready();
        break;
      default:
    }
  }

  #ready(): void {
    const isRead = this.#awaited[this.#at];
    if (this.#sqlState !== undefined) this.#answers.push({ sqlState: this.#sqlState });
    else if (isRead === true) this.#answers.push({ shown: this.#shown });
    this.#at += 1;
    this.#shown = [];
    this.#sqlState = undefined;
    if (this.#at === this.#awaited.length) this.#done?.(this.#answers);
  }
}

function chunksFor(text: string): readonly Chunk[] {
  const pipeline = Array.from({ length: PIPELINED }, () => query(text));
  return [
    { bytes: query(text), isRead: [true] },
    { bytes: extended(text), isRead: [true] },
    {
      bytes: Buffer.concat([query('begin isolation level repeatable read'), query(text), query('commit')]),
      isRead: [false, true, false],
    },
    { bytes: Buffer.concat(pipeline), isRead: pipeline.map(() => true) },
  ];
}

function query(text: string): Buffer {
  return message('Q', Buffer.from(`${text}\0`));
}

/** Parse, Bind, Execute and Sync, without names. */
function extended(text: string): Buffer {
  return Buffer.concat([
    message('P', Buffer.from(`\0${text}\0\0\0`)),
    message('B', Buffer.alloc(8)),
    message('E', Buffer.alloc(5)),
    message('S', Buffer.alloc(0)),
  ]);
}

function message(kind: string, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write(kind);
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

function shownIn(row: Buffer): Shown {
  const columns: string[] = [];
  for (let at = 2; at < row.length;) {
    const length = row.readInt32BE(at);
    columns.push(row.toString('latin1', at + 4, at + 4 + length));
    at += 4 + length;
  }
  const [id, epoch, n, server = ''] = columns;
  return { id: Number(id), epoch: Number(epoch), n: Number(n), server };
}

function sqlStateIn(error: Buffer): string {
  const field = error
    .toString('latin1')
    .split('\0')
    .find((part) => part.startsWith('C'));
  return field?.slice(1) ?? 'an error without SQLSTATE';
}
