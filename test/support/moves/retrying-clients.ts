// Applications that repeat their transactions, of several drivers. Each transaction stores two rows of the ledger, with
// some time between them. Where PostgreSQL says 40001 or 25P02 its client runs ROLLBACK and begins anew on the same
// session; where the connection is lost, on a new one.
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { type DrivenSession, ProgramError, type RunningProgram } from './driven-session.ts';
import { type KnownProgram, programs, type ProgramTarget } from './programs.ts';

const DRIVERS: ReadonlySet<string> = new Set(['psycopg2', 'asyncpg', 'node-postgres', 'postgres-js', 'pgjdbc']);

/** As the application's user. */
export const CREATE_LEDGER = 'create table ledger (transaction text, amount int, primary key (transaction, amount))';

/** One client of each driver for each: the time of its transactions, and whether a statement takes it. */
const KINDS = [
  { seconds: 0.1, isStatement: false },
  { seconds: 0.5, isStatement: true },
  { seconds: 2, isStatement: false },
  { seconds: 10, isStatement: true },
  { seconds: 60, isStatement: false },
] as const;
type Kind = (typeof KINDS)[number];

/** Transactions that take longer are open in every switchover, and need not end afterwards. */
const SHORT_SECONDS = 1;
const REPEATED = new Set(['40001', '25P02']);
const AGAIN_MS = 100;
const MOST_FINISH_MS = 60_000;

/** The drivers that have such clients. */
export function repeatingDrivers(): readonly KnownProgram[] {
  return programs().filter(({ name }) => DRIVERS.has(name));
}

export interface RetryFigures {
  readonly clients: number;
  /** Their clients were told that they are committed. */
  readonly acknowledged: readonly string[];
  /** 40001 and 25P02. */
  readonly repeated: number;
  /** Every other error, with the name of its client. */
  readonly errors: readonly string[];
  /** Connections that ended, or that could not be opened. */
  readonly lost: number;
}

export class RetryingClients {
  readonly #programs: readonly RunningProgram[];
  readonly #clients: readonly RetryingClient[];

  private constructor(programs: readonly RunningProgram[], clients: readonly RetryingClient[]) {
    this.#programs = programs;
    this.#clients = clients;
  }

  /** `name`: unlike those of all others that write to the same ledger. The programs are prepared. */
  static start(known: readonly KnownProgram[], name: string, directory: string, to: ProgramTarget): RetryingClients {
    const programs = known.map((program) => program.start(directory, to));
    const clients = programs.flatMap((program, at) =>
      KINDS.map((kind) => new RetryingClient(program, `${name}-${known[at]?.name}-${kind.seconds}`, kind)),
    );
    return new RetryingClients(programs, clients);
  }

  /** Each is in a transaction, or has been. */
  areWorking(): boolean {
    return this.#clients.every(({ begun }) => begun > 0);
  }

  /** Clients with short transactions that were told of less than so many since `before`. */
  behind(before: ReadonlyMap<string, number>, more: number): readonly string[] {
    return this.#clients
      .filter(({ kind }) => kind.seconds < SHORT_SECONDS)
      .filter(({ name, acknowledged }) => acknowledged.length < (before.get(name) ?? 0) + more)
      .map(({ name }) => name);
  }

  counts(): ReadonlyMap<string, number> {
    return new Map(this.#clients.map(({ name, acknowledged }) => [name, acknowledged.length]));
  }

  /** Each ends behind its transaction; a client that waits in it goes on at once. */
  async finish(): Promise<RetryFigures> {
    const ended = Promise.all(this.#clients.map((client) => client.finish()));
    await Promise.race([ended, delay(MOST_FINISH_MS, undefined, { ref: false })]);
    // Everything that still waits fails now.
    await this.stop();
    await ended;
    const all = this.#clients;
    return {
      clients: all.length,
      acknowledged: all.flatMap(({ acknowledged }) => acknowledged),
      repeated: all.reduce((sum, { repeated }) => sum + repeated, 0),
      errors: all.flatMap(({ name, errors }) => errors.map((error) => `${name}: ${error}`)),
      lost: all.reduce((sum, { lost }) => sum + lost, 0),
    };
  }

  /** Their processes. */
  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop()));
  }
}

class RetryingClient {
  readonly name: string;
  readonly kind: Kind;
  readonly acknowledged: string[] = [];
  readonly errors: string[] = [];
  begun = 0;
  repeated = 0;
  lost = 0;
  readonly #program: RunningProgram;
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #sessions = 0;

  constructor(program: RunningProgram, name: string, kind: Kind) {
    this.#program = program;
    this.name = name;
    this.kind = kind;
    this.#done = this.#work();
  }

  async finish(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #work(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const session = await this.#open();
      if (session !== undefined) await this.#workOn(session);
    }
  }

  async #open(): Promise<DrivenSession | undefined> {
    this.#sessions += 1;
    try {
      return await this.#program.open(`${this.name}-${this.#sessions}`);
    } catch (error) {
      this.#took(error);
      this.lost += 1;
      await delay(AGAIN_MS);
      return undefined;
    }
  }

  /** Until the session ends. */
  async #workOn(session: DrivenSession): Promise<void> {
    for (let number = 1; !this.#end.signal.aborted; number += 1) {
      const transaction = `${session.name}-${number}`;
      try {
        await this.#transact(session, transaction);
        this.acknowledged.push(transaction);
      } catch (error) {
        this.#took(error);
        if (await hasRolledBack(session)) continue;
        this.lost += 1;
        return;
      }
    }
  }

  async #transact(session: DrivenSession, transaction: string): Promise<void> {
    const { seconds, isStatement } = this.kind;
    await session.run('begin');
    await session.run(`insert into ledger values ('${transaction}', -7)`);
    this.begun += 1;
    if (isStatement) await session.run(`select pg_sleep(${seconds})`);
    else await delay(seconds * 1000, undefined, { signal: this.#end.signal }).catch(() => undefined);
    // postgres.js opens a new connection by itself, where the rest of the transaction would be outside of one.
    if (hasEnded(session)) throw new ProgramError('', 'the connection ended between two statements');
    await session.run(`insert into ledger values ('${transaction}', 7)`);
    await session.run('commit');
  }

  #took(error: unknown): void {
    const state = error instanceof ProgramError ? error.state : '';
    if (REPEATED.has(state)) this.repeated += 1;
    else this.errors.push(`${state} ${String(error)}`);
  }
}

function hasEnded({ events }: DrivenSession): boolean {
  return events.includes('end');
}

/** False: its connection is gone. */
async function hasRolledBack(session: DrivenSession): Promise<boolean> {
  const isWell = await session.run('rollback').then(
    () => true,
    () => false,
  );
  return isWell && !hasEnded(session);
}

/** Names of transactions. */
export interface LedgerFigures {
  /** Acknowledged, and not there. */
  readonly missing: readonly string[];
  /** There, and not acknowledged: their clients do not know. */
  readonly untold: readonly string[];
  /** One row alone is there. */
  readonly halves: readonly string[];
}

/** Compares the transactions of these clients with the ledger of the primary. `name`: as they were started. */
export async function judgeLedger(
  cluster: ClusterUnderTest,
  name: string,
  { acknowledged }: Pick<RetryFigures, 'acknowledged'>,
): Promise<LedgerFigures> {
  const leader = await cluster.leader();
  const text = `select transaction, count(*)::int as n from ledger where transaction like '${name}-%' group by 1`;
  const rows = await cluster.sql(leader.name, text, { timeoutMs: 20_000 });
  const stored = new Set(rows.map(({ transaction }) => String(transaction)));
  const told = new Set(acknowledged);
  return {
    missing: [...told.difference(stored)],
    untold: [...stored.difference(told)],
    halves: rows.filter(({ n }) => n !== 2).map(({ transaction }) => String(transaction)),
  };
}
