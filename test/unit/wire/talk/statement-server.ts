// A server for our own pipelines: the extended protocol as PostgreSQL answers it, with a function that runs each
// statement.
import { aMessage, errorOf, readyForQuery } from '../../../support/sockets/messages.ts';

export interface Refusal {
  readonly sqlState: string;
  readonly message: string;
  readonly severity?: 'ERROR' | 'FATAL';
}

export interface DescribedStatement {
  readonly types: readonly number[];
  readonly columns?: readonly string[];
}

export interface StatementServerOptions {
  /** The rows of a statement, or its error. */
  readonly run: (sql: string, values: readonly string[]) => readonly (readonly (string | null)[])[] | Refusal;
  /** When a statement is prepared. */
  readonly onParse?: (name: string, sql: string) => Refusal | undefined;
  /** `a:23:-1` for each column. */
  readonly describe?: (name: string) => DescribedStatement | Refusal;
}

export class StatementServer {
  /** Each message that it took: `P name: sql`, `E sql [values]`, `C name`, `D name`, `S`. */
  readonly log: string[] = [];
  readonly #options: StatementServerOptions;
  readonly #sql = new Map<string, string>();
  #values: readonly string[] = [];
  #bound = '';
  #portal = '';
  #status: 'I' | 'T' | 'E' = 'I';
  #isSkipping = false;

  constructor(options: StatementServerOptions) {
    this.#options = options;
  }

  /** The answer to whole messages. */
  take(bytes: Uint8Array): Buffer {
    const all = Buffer.from(bytes);
    const answers: Buffer[] = [];
    for (let at = 0; at < all.length; at += 1 + all.readInt32BE(at + 1)) {
      const type = all.toString('latin1', at, at + 1);
      answers.push(this.#takeOne(type, new Body(all.subarray(at + 5, at + 1 + all.readInt32BE(at + 1)))));
    }
    return Buffer.concat(answers);
  }

  #takeOne(type: string, body: Body): Buffer {
    if (type === 'S') {
      this.log.push('S');
      this.#isSkipping = false;
      return readyForQuery(this.#status);
    }
    if (this.#isSkipping) return Buffer.alloc(0);
    switch (type) {
      case 'P':
        return this.#parse(body.text(), body.text());
      case 'B':
        return this.#bind(body);
      case 'E':
        return this.#execute(body);
      case 'C':
        body.skip(1);
        this.log.push(`C ${body.text()}`);
        return aMessage('3');
      case 'D':
        body.skip(1);
        return this.#describe(body.text());
      default:
        throw new Error(`a message ${type}`);
    }
  }

  #parse(name: string, sql: string): Buffer {
    this.log.push(`P ${name}: ${sql}`);
    const refusal = this.#options.onParse?.(name, sql);
    if (refusal !== undefined) return this.#fail(refusal);
    this.#sql.set(name, sql);
    return aMessage('1');
  }

  #bind(body: Body): Buffer {
    this.#portal = body.text();
    this.#bound = this.#sql.get(body.text()) ?? '';
    body.skip(2 * body.int16());
    this.#values = Array.from({ length: body.int16() }, () => body.value());
    const wanted = Math.max(0, ...[...this.#bound.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    if (this.#values.length !== wanted) throw new Error(`${this.#values.length} values for ${this.#bound}`);
    return aMessage('2');
  }

  #execute(body: Body): Buffer {
    if (body.text() !== this.#portal) throw new Error('no such portal');
    if (body.int32() !== 0) throw new Error('a limit of rows');
    const sql = this.#bound;
    this.log.push(`E ${sql}${this.#values.length === 0 ? '' : ` [${this.#values.join(', ')}]`}`);
    if (sql.startsWith('BEGIN')) this.#status = 'T';
    const rows = this.#options.run(sql, this.#values);
    if ('sqlState' in rows) return this.#fail(rows);
    if (sql === 'COMMIT' || sql === 'ROLLBACK') this.#status = 'I';
    return Buffer.concat([...rows.map(dataRow), aMessage('C', Buffer.from('SELECT\0'))]);
  }

  #describe(name: string): Buffer {
    this.log.push(`D ${name}`);
    const described = this.#options.describe?.(name) ?? { types: [] };
    if ('sqlState' in described) return this.#fail(described);
    const { types, columns } = described;
    const parameters = aMessage('t', Buffer.concat([short(types.length), ...types.map(long)]));
    return Buffer.concat([parameters, columns === undefined ? aMessage('n') : rowDescription(columns)]);
  }

  #fail({ sqlState, message, severity = 'ERROR' }: Refusal): Buffer {
    this.#isSkipping = true;
    if (this.#status === 'T') this.#status = 'E';
    return errorOf([`S${severity}`, `V${severity}`, `C${sqlState}`, `M${message}`]);
  }
}

class Body {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(count: number): void {
    this.#at += count;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  value(): string {
    const size = this.#bytes.readInt32BE(this.#at);
    this.#at += 4 + size;
    return this.#bytes.toString('utf8', this.#at - size, this.#at);
  }
}

function short(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function dataRow(row: readonly (string | null)[]): Buffer {
  const values = row.map((value) =>
    value === null ? long(-1) : Buffer.concat([long(Buffer.byteLength(value)), Buffer.from(value)]),
  );
  return aMessage('D', Buffer.concat([short(row.length), ...values]));
}

function rowDescription(columns: readonly string[]): Buffer {
  const parts = columns.flatMap((column) => {
    const [name = '', type, modifier] = column.split(':');
    return [Buffer.from(`${name}\0`), Buffer.alloc(6), long(Number(type)), short(4), long(Number(modifier)), short(0)];
  });
  return aMessage('T', Buffer.concat([short(columns.length), ...parts]));
}
