// Registers that only grow, one writer each, and readers that know what was acknowledged before they asked. A read that
// shows less is stale, unless a failover has lost the write: the next session of its writer finds what is left.
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { monotonicMs, pauseAfter } from '../waiting/wait.ts';
import { RegisterReader, type Shown } from './register-reader.ts';
import { isLess, isLost, type Register, type ShortRead, type Value } from './registers.ts';

export const CREATE_REGISTERS = `create table registers (id int primary key, epoch int not null, n int not null);
  insert into registers select id, 0, 0 from generate_series(0, 99) as id`;

export interface ReaderGroup {
  readonly config: ClientConfig;
  readonly readers: number;
}

export interface RegisterOptions<Pool extends string> {
  readonly write: ClientConfig;
  readonly writers: number;
  /** Between two writes of a writer. Milliseconds. */
  readonly pauseMs?: number;
  /** Each client rests behind a statement, so that the cluster has time left. Default: none does. */
  readonly rests?: boolean;
  /** Every other writer has `synchronous_commit=off`. */
  readonly isAsynchronous?: boolean;
  /** By pool. */
  readonly readers: Readonly<Record<Pool, ReaderGroup>>;
}

/** The sights of the readers of one pool. */
export interface Sights {
  reads: number;
  /** Bytes that came at once: one read, or several. Each was checked by itself. */
  checks: number;
  /** By SQLSTATE. */
  readonly errors: Map<string, number>;
  /** Known when the history has stopped. */
  readonly stale: string[];
  /** Reads that miss a write that a failover has lost. */
  lost: number;
}

const RETRY_MS = 50;
const CONNECT_MS = 10_000;

/** No epoch of this process is used twice, whatever the servers have lost. */
let newestEpoch = 0;

export class RegisterHistory<Pool extends string> {
  readonly #options: RegisterOptions<Pool>;
  readonly #registers: readonly Register[];
  readonly #stopping = new AbortController();
  /** By read: the registers of which it has shown too little. */
  readonly #short: { readonly sights: Sights; readonly registers: readonly ShortRead[] }[] = [];
  readonly #loops: readonly Promise<void>[];
  readonly #sights = new Map<string, Sights>();
  readonly writeErrors = new Map<string, number>();
  writes = 0;

  constructor(options: RegisterOptions<Pool>) {
    this.#options = options;
    this.#registers = Array.from({ length: options.writers }, (_, id) => ({ id, sessions: [], floor: undefined }));
    const groups: readonly [string, ReaderGroup][] = Object.entries(options.readers);
    this.#loops = [
      ...this.#registers.map((register) =>
        this.#keep(options.write, this.writeErrors, (client) => this.#write(client, register)),
      ),
      ...groups.flatMap(([pool, { config, readers }]) => {
        const sights: Sights = { reads: 0, checks: 0, errors: new Map(), stale: [], lost: 0 };
        this.#sights.set(pool, sights);
        return Array.from({ length: readers }, (_, at) =>
          this.#keep(config, sights.errors, (client) => this.#read(client, at, sights)),
        );
      }),
    ];
  }

  sights(pool: Pool): Sights {
    const sights = this.#sights.get(pool);
    if (sights === undefined) throw new Error(`no readers of ${pool}`);
    return sights;
  }

  /** Judges the reads that have shown less than was acknowledged. The write port must lead to a primary. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
    if (this.#short.length === 0) return;
    await this.#findSurvivors();
    for (const { sights, registers } of this.#short.splice(0)) {
      const stale = registers.find((read) => !isLost(read));
      if (stale === undefined) sights.lost += 1;
      else sights.stale.push(textOf(stale));
    }
  }

  /** A session after the other, while they end. */
  async #keep(config: ClientConfig, errors: Map<string, number>, use: (client: Client) => Promise<void>) {
    while (!this.#stopping.signal.aborted) {
      const client = new Client({ connectionTimeoutMillis: CONNECT_MS, ...config });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await use(client);
      } catch (error) {
        count(errors, error);
        await delay(RETRY_MS);
      } finally {
        client.end().catch(() => undefined);
      }
    }
  }

  async #write(client: Client, register: Register): Promise<void> {
    const { isAsynchronous = false, pauseMs = 0 } = this.#options;
    const { id, sessions } = register;
    if (isAsynchronous && id % 2 === 1) await client.query('set synchronous_commit = off');
    const found = await valueOf(client, id);
    const last = sessions.at(-1);
    if (last !== undefined) last.survived = found;
    newestEpoch += 1;
    const epoch = newestEpoch;
    // A statement of the session before may still be under way.
    const text = `update registers set epoch = ${epoch}, n = n + 1 where id = ${id} and epoch <= ${epoch} returning n`;
    const session: Register['sessions'][number] = { endedAtMs: undefined, survived: undefined };
    sessions.push(session);
    try {
      while (!this.#stopping.signal.aborted) {
        const sinceMs = monotonicMs();
        const { rows } = await client.query<{ n: number }>(text);
        const [row] = rows;
        if (row === undefined) throw new Error(`register ${id} has a later epoch than ${epoch}`);
        register.floor = { epoch, n: row.n, session: sessions.length - 1 };
        this.writes += 1;
        if (pauseMs > 0) await delay(pauseMs);
        await this.#rest(sinceMs);
      }
    } finally {
      session.endedAtMs = monotonicMs();
    }
  }

  async #read(client: Client, turn: number, sights: Sights): Promise<void> {
    const reader = new RegisterReader(client, { registers: this.#registers.length, turn });
    while (!this.#stopping.signal.aborted) {
      const floors = this.#registers.map(({ floor }) => floor);
      const sinceMs = monotonicMs();
      const answers = await reader.read();
      sights.checks += 1;
      for (const answer of answers) {
        if ('sqlState' in answer) {
          increase(sights.errors, answer.sqlState);
          continue;
        }
        sights.reads += 1;
        const registers = answer.shown.flatMap((shown) => this.#compare(floors, sinceMs, shown));
        if (registers.length > 0) this.#short.push({ sights, registers });
      }
      await this.#rest(sinceMs);
    }
  }

  async #rest(sinceMs: number): Promise<void> {
    if (this.#options.rests === true) await delay(pauseAfter(monotonicMs() - sinceMs));
  }

  #compare(floors: readonly Register['floor'][], sinceMs: number, shown: Shown): ShortRead | [] {
    const register = this.#registers[shown.id];
    const floor = floors[shown.id];
    if (register === undefined || floor === undefined || !isLess(shown, floor)) return [];
    const lastSession = register.sessions.length - 1;
    return { register, floor, shown, sinceMs, untilMs: monotonicMs(), lastSession };
  }

  /** The values that the writers' last sessions have left. */
  async #findSurvivors(): Promise<void> {
    const client = new Client({ connectionTimeoutMillis: CONNECT_MS, ...this.#options.write });
    await client.connect();
    try {
      for (const { id, sessions } of this.#registers) {
        const last = sessions.at(-1);
        if (last !== undefined) last.survived = await valueOf(client, id);
      }
    } finally {
      await client.end();
    }
  }
}

async function valueOf(client: Client, id: number): Promise<Value> {
  const { rows } = await client.query<{ epoch: number; n: number }>(`select epoch, n from registers where id = ${id}`);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no register ${id}`);
  return row;
}

function textOf({ register, floor, shown, sinceMs, untilMs }: ShortRead): string {
  const [got, wanted] = [shown, floor].map(({ epoch, n }) => `${epoch}/${n}`);
  const ms = (untilMs - sinceMs).toFixed(1);
  const when = `asked ${ms} ms before, at ${sinceMs.toFixed(0)}`;
  return `register ${register.id}: ${got} on ${shown.server}, not ${wanted}, ${when}`;
}

function count(errors: Map<string, number>, error: unknown): void {
  increase(errors, error instanceof Error && 'code' in error ? String(error.code) : String(error));
}

function increase(errors: Map<string, number>, code: string): void {
  errors.set(code, (errors.get(code) ?? 0) + 1);
}
