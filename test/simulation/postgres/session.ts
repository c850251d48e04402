// One session of a simulated server: its transaction, its settings, its prepared statements, and whatever else keeps a
// session where it is. Runs one statement after another.
import type { Execution } from './ledger.ts';
import { Settings } from './settings.ts';
import { columnsOf, isAboutState, isQuery, isRefusedInRecovery, parametersOf, statementOf } from './statement.ts';
import type { QueryStatement, StateStatement, Statement } from './statement.ts';
import type { Change } from './wal.ts';
import type { Work } from './wait.ts';
import type { Database } from './database.ts';

export interface Preparation {
  readonly sql: string;
  /** Undefined: it is a question of Pointsman. */
  readonly statement: Statement | undefined;
  readonly parameterTypes: readonly number[];
  readonly isFromSql: boolean;
}

export type Row = readonly (string | null)[];

/** A statement's result. */
export interface Answer {
  readonly tag: string;
  readonly rows: readonly Row[];
}

export class SqlError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A transaction that has written. */
export interface Transaction {
  readonly xid: number;
  readonly changes: Change[];
  readonly executions: Execution[];
}

/** The server as its sessions see it. */
export interface SessionHost {
  /** The settings in the file of the server. */
  readonly file: ReadonlyMap<string, string>;
  isInRecovery(): boolean;
  database(): Database;
  /** Notes the statement. */
  executes(session: ServerSession, sql: string, change: Change | undefined): Execution;
  writes(xid: number, change: Change): void;
  /** Returns when the transaction is as safe as the session wants it. */
  commit(transaction: Transaction, isDurable: boolean): Work;
  abort(xid: number): void;
  sleep(ms: number): Work<'canceled' | undefined>;
}

const IN_FAILED_BLOCK = new Set<Statement['kind']>(['rollback', 'commit', 'empty']);

export class ServerSession {
  readonly user: string;
  readonly databaseName: string;
  readonly client: string;
  readonly process: number;
  readonly settings: Settings;
  readonly prepared = new Map<string, Preparation>();
  readonly listening = new Set<string>();
  readonly cursors = new Set<string>();
  readonly advisory = new Set<number>();
  temporaryTables = 0;
  /** The last statement's commit, until the backend has told its client. */
  unconfirmed: Execution[] = [];
  readonly #host: SessionHost;
  #block: 'none' | 'open' | 'failed' = 'none';
  #transaction: Transaction | undefined;
  /** LISTEN and UNLISTEN take effect when the transaction commits. */
  #channelChanges: (() => void)[] = [];

  constructor(host: SessionHost, startup: ReadonlyMap<string, string>, process: number) {
    this.#host = host;
    this.process = process;
    this.user = startup.get('user') ?? '';
    this.databaseName = startup.get('database') ?? this.user;
    this.client = startup.get('application_name') ?? '';
    const settings = [...startup].filter(([name]) => !['user', 'database', 'replication', 'options'].includes(name));
    this.settings = new Settings(new Map(settings), new Map(host.file));
  }

  /** As in ReadyForQuery. */
  status(): 'I' | 'T' | 'E' {
    if (this.#block === 'failed') return 'E';
    return this.#block === 'open' ? 'T' : 'I';
  }

  role(): string {
    const role = this.settings.value('role') ?? 'none';
    return role === 'none' ? this.user : role;
  }

  /** Throws where the transaction has failed, unless such a statement may run there. */
  refuseIfFailed(kind: Statement['kind'] | undefined): void {
    if (this.#block !== 'failed' || (kind !== undefined && IN_FAILED_BLOCK.has(kind))) return;
    const message = 'current transaction is aborted, commands ignored until end of transaction block';
    throw new SqlError('25P02', message);
  }

  prepare(sql: string, parameterTypes: readonly number[]): Preparation {
    if (sql.includes('pg_catalog.')) return { sql, statement: undefined, parameterTypes, isFromSql: false };
    const statement = readStatement(sql);
    this.refuseIfFailed(statement.kind);
    const types = parametersOf(statement).map((type, index) => parameterTypes[index] || type);
    return { sql, statement, parameterTypes: types, isFromSql: false };
  }

  preparation(name: string): Preparation {
    const found = this.prepared.get(name);
    if (found === undefined) throw noStatement(name);
    return found;
  }

  *run({ statement, sql }: Preparation, value: string | null | undefined): Work<Answer> {
    if (statement === undefined) throw new SqlError('42601', 'not understood');
    this.refuseIfFailed(statement.kind);
    this.settings.begin();
    return yield* this.#perform(statement, sql, value ?? undefined);
  }

  /** The end of a Query, or a Sync: outside of a block it commits. */
  *endStatements(): Work {
    if (this.#block === 'none') yield* this.#commit();
  }

  /** An error: what the statement has done is taken back with its transaction. */
  fail(): void {
    const isInBlock = this.#block !== 'none';
    this.rollback();
    if (isInBlock) this.#block = 'failed';
  }

  rollback(): void {
    if (this.#transaction !== undefined) this.#host.abort(this.#transaction.xid);
    this.#transaction = undefined;
    this.#block = 'none';
    this.#channelChanges = [];
    this.settings.rollback();
  }

  *#commit(): Work {
    const transaction = this.#transaction;
    const isDurable = this.settings.value('synchronous_commit') !== 'off';
    this.#transaction = undefined;
    this.#block = 'none';
    this.settings.commit();
    for (const change of this.#channelChanges.splice(0)) change();
    if (transaction === undefined) return;
    this.unconfirmed = transaction.executions;
    yield* this.#host.commit(transaction, isDurable);
  }

  *#perform(statement: Statement, sql: string, value: string | undefined): Work<Answer> {
    if (isRefusedInRecovery(statement) && this.#host.isInRecovery()) {
      this.#host.executes(this, sql, undefined);
      throw new SqlError('25006', `cannot execute ${statement.kind.toUpperCase()} during recovery`);
    }
    if (isQuery(statement)) {
      this.#host.executes(this, sql, undefined);
      return this.#select(statement);
    }
    if (isAboutState(statement)) return this.#changeState(statement);
    switch (statement.kind) {
      case 'begin':
        this.#block = 'open';
        return done('BEGIN');
      case 'commit': {
        if (this.#block === 'failed') {
          this.rollback();
          return done('ROLLBACK');
        }
        yield* this.#commit();
        return done('COMMIT');
      }
      case 'rollback':
        this.rollback();
        return done('ROLLBACK');
      case 'insert':
        return this.#insert(statement, sql, value);
      case 'prepare':
        return this.#prepareFromSql(statement);
      case 'execute':
        return yield* this.#perform(this.#statementNamed(statement.name), sql, statement.value);
      case 'sleep': {
        this.#host.executes(this, sql, undefined);
        const isCanceled = (yield* this.#host.sleep(statement.ms)) === 'canceled';
        if (isCanceled) throw new SqlError('57014', 'canceling statement due to user request');
        return { tag: 'SELECT 1', rows: [['']] };
      }
    }
  }

  #changeState(statement: StateStatement): Answer {
    switch (statement.kind) {
      case 'set':
        return this.#set(statement);
      case 'reset':
        this.settings.reset(statement.name);
        return done('RESET');
      case 'show': {
        const shown = this.settings.value(statement.name);
        if (shown !== undefined) return { tag: 'SHOW', rows: [[shown]] };
        throw new SqlError('42704', `unrecognized configuration parameter "${statement.name}"`);
      }
      case 'discard_all':
        this.#discard();
        return done('DISCARD ALL');
      case 'deallocate':
        if (statement.name === undefined) this.prepared.clear();
        else if (!this.prepared.delete(statement.name)) throw noStatement(statement.name);
        return done('DEALLOCATE');
      case 'listen':
        this.#channelChanges.push(() => this.listening.add(statement.name));
        return done('LISTEN');
      case 'unlisten':
        this.#channelChanges.push(() => {
          if (statement.name === '*') this.listening.clear();
          else this.listening.delete(statement.name);
        });
        return done('UNLISTEN');
      case 'temporary_table':
        this.temporaryTables += 1;
        return done('CREATE TABLE');
      case 'holdable_cursor':
        this.cursors.add(statement.name);
        return done('DECLARE CURSOR');
      case 'advisory_lock':
        this.advisory.add(statement.key);
        return { tag: 'SELECT 1', rows: [['']] };
      case 'advisory_unlock':
        this.advisory.clear();
        return { tag: 'SELECT 1', rows: [['']] };
      case 'empty':
        return done('');
    }
  }

  #select(statement: QueryStatement): Answer {
    const database = this.#host.database();
    const rows = ((): readonly Row[] => {
      switch (statement.kind) {
        case 'one':
          return [['1']];
        case 'numbers':
          return [...database.numbers(statement.client), ...this.#own(statement.client)].map((number) => [
            String(number),
          ]);
        case 'balances':
          return [...database.balances()].map(([account, balance]) => [String(account), String(balance)]);
        case 'session':
          return [[this.user, this.role(), this.databaseName]];
        case 'recovery':
          return [[this.#host.isInRecovery() ? 't' : 'f']];
        case 'channels':
          return [...this.listening].map((channel) => [channel]);
        case 'locks':
          return [[String(this.advisory.size)]];
      }
    })();
    return { tag: `SELECT ${rows.length}`, rows };
  }

  /** The numbers of the transaction itself, which has not committed. */
  #own(client: string): readonly number[] {
    const changes = this.#transaction?.changes ?? [];
    return changes.filter((change) => change.client === client).map(({ number }) => number);
  }

  #insert(statement: Extract<Statement, { kind: 'insert' }>, sql: string, value: string | undefined): Answer {
    if (this.settings.value('default_transaction_read_only') === 'on') {
      throw new SqlError('25006', 'cannot execute INSERT in a read-only transaction');
    }
    const { client, transfer } = statement;
    const change: Change = { client, number: statement.number ?? Number(value), ...(transfer && { transfer }) };
    this.#transaction ??= { xid: this.#host.database().beginWriting(), changes: [], executions: [] };
    this.#transaction.changes.push(change);
    this.#transaction.executions.push(this.#host.executes(this, sql, change));
    this.#host.writes(this.#transaction.xid, change);
    return transfer === undefined ? done('INSERT 0 1') : { tag: 'SELECT 1', rows: [[null]] };
  }

  #set({ name, value, isLocal }: Extract<Statement, { kind: 'set' }>): Answer {
    if (!this.settings.isKnown(name)) {
      throw new SqlError('42704', `unrecognized configuration parameter "${name}"`);
    }
    if (value === undefined) this.settings.reset(name);
    // Outside of a block PostgreSQL warns, and sets nothing.
    else if (!isLocal || this.#block !== 'none') this.settings.set(name, value, isLocal);
    return done('SET');
  }

  #prepareFromSql({ name, text, sql }: Extract<Statement, { kind: 'prepare' }>): Answer {
    if (this.prepared.has(name)) throw new SqlError('42P05', `prepared statement "${name}" already exists`);
    const { statement, parameterTypes } = this.prepare(text, []);
    this.prepared.set(name, { sql, statement, parameterTypes, isFromSql: true });
    return done('PREPARE');
  }

  #statementNamed(name: string): Statement {
    const { statement } = this.preparation(name);
    if (statement === undefined) throw noStatement(name);
    return statement;
  }

  #discard(): void {
    this.settings.reset();
    this.settings.reset('role');
    this.prepared.clear();
    this.listening.clear();
    this.cursors.clear();
    this.advisory.clear();
    this.temporaryTables = 0;
  }
}

/** Throws a syntax error. */
export function readStatement(sql: string): Statement {
  const statement = statementOf(sql);
  if (statement === undefined) throw new SqlError('42601', `syntax error at or near "${sql.slice(0, 40)}"`);
  return statement;
}

export function describedColumns({ statement }: Preparation, session: ServerSession): ReturnType<typeof columnsOf> {
  if (statement?.kind !== 'execute') return statement && columnsOf(statement);
  const { statement: executed } = session.preparation(statement.name);
  return executed && columnsOf(executed);
}

function done(tag: string): Answer {
  return { tag, rows: [] };
}

function noStatement(name: string): SqlError {
  return new SqlError('26000', `prepared statement "${name}" does not exist`);
}
