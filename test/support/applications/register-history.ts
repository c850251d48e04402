// Registers that only grow, one writer each, and readers that know what was acknowledged before they asked. A read
// that shows less is stale, unless a failover has lost the write: then its writer sees an error, and reads its register
// anew.
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { monotonicMs } from '../waiting/wait.ts';

export const CREATE_REGISTERS = `create table registers (id int primary key, n int not null);
  insert into registers select id, 0 from generate_series(0, 99) as id`;

export interface RegisterOptions {
  readonly write: ClientConfig;
  readonly read: ClientConfig;
  readonly writers: number;
  readonly readers: number;
  /** Every other writer has `synchronous_commit=off`. */
  readonly isAsynchronous?: boolean;
}

interface Register {
  /** Acknowledged. Undefined: a failover may have lost it. */
  n: number | undefined;
  /** When it became undefined last. */
  lostAtMs: number;
}

interface ShortRead {
  readonly register: Register;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly text: string;
}

/** The writer of a lost register may notice so much later. */
const NOTICE_MS = 5_000;
const RETRY_MS = 50;

export class RegisterHistory {
  readonly #options: RegisterOptions;
  readonly #registers: readonly Register[];
  readonly #stopping = new AbortController();
  readonly #short: ShortRead[] = [];
  readonly #loops: readonly Promise<void>[];
  readonly errors = new Map<string, number>();
  reads = 0;
  writes = 0;

  constructor(options: RegisterOptions) {
    this.#options = options;
    this.#registers = Array.from({ length: options.writers }, () => ({ n: undefined, lostAtMs: 0 }));
    this.#loops = [
      ...this.#registers.map((register, id) =>
        this.#keep(options.write, (client) => this.#write(client, register, id)),
      ),
      ...Array.from({ length: options.readers }, (_, at) =>
        this.#keep(options.read, (client) => this.#read(client, at)),
      ),
    ];
  }

  /** Returns the stale reads. */
  async stop(): Promise<readonly string[]> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
    return this.#short.filter((read) => !isLost(read)).map(({ text }) => text);
  }

  /** A session after the other, while they end. */
  async #keep(config: ClientConfig, use: (client: Client) => Promise<void>): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const client = new Client({ connectionTimeoutMillis: 10_000, ...config });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await use(client);
      } catch (error) {
        this.#count(error);
        await delay(RETRY_MS);
      } finally {
        client.end().catch(() => undefined);
      }
    }
  }

  async #write(client: Client, register: Register, id: number): Promise<void> {
    if (this.#options.isAsynchronous === true && id % 2 === 1) await client.query('set synchronous_commit = off');
    const { rows } = await client.query<{ n: number }>(`select n from registers where id = ${id}`);
    register.n = rows[0]?.n;
    try {
      while (!this.#stopping.signal.aborted) {
        const result = await client.query<{ n: number }>(`update registers set n = n + 1 where id = ${id} returning n`);
        register.n = result.rows[0]?.n;
        this.writes += 1;
      }
    } catch (error) {
      register.n = undefined;
      register.lostAtMs = monotonicMs();
      throw error;
    }
  }

  async #read(client: Client, at: number): Promise<void> {
    for (let turn = at; !this.#stopping.signal.aborted; turn += 1) {
      const id = turn % this.#registers.length;
      const register = this.#registers[id];
      const floor = register?.n;
      const sinceMs = monotonicMs();
      const text = 'select n, inet_server_port() as port from registers where id =';
      const query = turn % 2 === 0 ? `${text} ${id}` : { text: `${text} $1`, values: [id] };
      try {
        const { rows } = await client.query<{ n: number; port: number }>(query);
        this.reads += 1;
        const { n = -1, port = 0 } = rows[0] ?? {};
        if (register !== undefined && floor !== undefined && n < floor) {
          const untilMs = monotonicMs();
          this.#short.push({ register, sinceMs, untilMs, text: `register ${id}: ${n} on ${port}, not ${floor}` });
        }
      } catch (error) {
        // The session goes on behind a late read.
        if (!isLate(error)) throw error;
        this.#count(error);
      }
    }
  }

  #count(error: unknown): void {
    const key = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
  }
}

function isLost({ register, sinceMs, untilMs }: ShortRead): boolean {
  return register.lostAtMs >= sinceMs - NOTICE_MS && register.lostAtMs <= untilMs + NOTICE_MS;
}

function isLate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014';
}
