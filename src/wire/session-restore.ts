// Gives a new session the state of an old one, in one pipeline, and checks that it is the same: every setting, role,
// user, search_path, the columns and types of every prepared statement. Any difference is a failure: the session must
// not go on.
import type { CarriedState, MoveFailure, StatementDescription, WalReport } from '../model/moves.ts';
import {
  LONGEST_DESCRIPTION,
  MOST_TRIES,
  Pipeline,
  refusesUnnamed,
  RESTORE_LIMITS_MS,
  TRANSACTION_SETTINGS,
  timeLimits,
  UNNAMED,
} from './pipeline.ts';
import type { Description, ServerError } from './pipeline.ts';
import { literals } from './sql-literals.ts';
import { parsedWalReport, WAL_EXPRESSION } from './wal-report.ts';

/** The unnamed statement. */
export interface CarriedUnnamed {
  /** Its Parse message. */
  readonly message: Uint8Array;
  /** The client_encoding of the message. Undefined: UTF8. */
  readonly encoding: string | undefined;
  /** As the old server described it. Undefined: it was not asked. */
  readonly description: StatementDescription | undefined;
}

export interface RestoreOptions {
  readonly state: CarriedState;
  readonly unnamed: CarriedUnnamed | undefined;
  /** The first number of server_version: 18. */
  readonly serverMajor: number;
  /** The result tells what the server has of the WAL. */
  readonly asksWal?: boolean;
}

export type RestoreResult =
  | {
      readonly kind: 'restored';
      /** Undefined unless it was asked, and understood. */
      readonly wal: WalReport | undefined;
      /** The session goes on without the unnamed statement. */
      readonly isUnnamedRefused?: boolean;
    }
  /** The connection is of no use. `why` is for the client and logs. */
  | {
      readonly kind: 'failed';
      readonly reason: Extract<MoveFailure, 'move_restore' | 'move_differs'>;
      readonly sqlState: string | undefined;
      readonly why: string;
    };

export type RestoreStep =
  | { readonly kind: 'wait' }
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'done';
      readonly result: RestoreResult;
      /** As the server has told them since `start`, by name. */
      readonly parameters: ReadonlyMap<string, string>;
      /** Bytes after its answers: for the client. */
      readonly rest: Uint8Array;
    };

const SET_ALL =
  'SELECT n, pg_catalog.set_config(n, v, false) FROM pg_catalog.json_each_text($1::pg_catalog.json) AS t(n, v)';
// For this transaction alone.
const OUR_ENCODING = "SET LOCAL client_encoding = 'UTF8'";
const ITS_ENCODING = "SELECT pg_catalog.set_config('client_encoding', $1, true)";
const SET_ROLE = "SELECT pg_catalog.set_config('role', $1, false)";
const WHO = "SELECT pg_catalog.current_setting('role'), session_user, pg_catalog.current_setting('search_path')";
const WHO_AND_WAL = `${WHO}, (${WAL_EXPRESSION})::pg_catalog.text`;

/**
 * Undoes settings of a login event trigger that the old session did not have. `names`: a condition. A database without
 * such a trigger pays for the look at a small catalog alone.
 */
const untrigger = (names: string): string => `SELECT pg_catalog.set_config(name, reset_val, false)
  FROM pg_catalog.pg_settings WHERE source OPERATOR(pg_catalog.=) 'session' AND ${names} AND EXISTS (
    SELECT FROM pg_catalog.pg_event_trigger WHERE evtevent OPERATOR(pg_catalog.=) 'login')`;
const TRIGGERS_SINCE = 17;

/** One restore on one new session. */
export class SessionRestore {
  readonly #options: RestoreOptions;
  #pipeline: Pipeline;
  #tries = 1;
  readonly #parameters = new Map<string, string>();
  #differences: string[] = [];
  #wal: WalReport | undefined;
  /** Settings that are not equal yet. */
  #unequal: Map<string, string> = new Map();
  #isUnnamedRefused = false;

  constructor(options: RestoreOptions) {
    this.#options = options;
    this.#pipeline = this.#newPipeline();
  }

  /** The bytes for the server, which has told that it is ready. */
  start(): Uint8Array {
    const { state, unnamed, serverMajor } = this.#options;
    this.#unequal = new Map([...state.settings, ...state.custom]);
    this.#differences = [];
    // They are in force for what follows.
    const late = [...timeLimits(serverMajor), 'client_encoding'];
    const pipeline = this.#pipeline.guardBriefly(serverMajor, undefined, RESTORE_LIMITS_MS);
    pipeline.run('the encoding', OUR_ENCODING);
    const isLate = ([name]: readonly [string, string]): boolean => late.includes(name);
    this.#untrigger(`name OPERATOR(pg_catalog.<>) ALL (ARRAY[${literals([...late, ...TRANSACTION_SETTINGS])}])`);
    this.#set([...state.settings, ...state.custom].filter((entry) => !isLate(entry)));
    pipeline.run(`the role ${state.role}`, SET_ROLE, [state.role]);
    // Before the others, which would outlive its failure.
    if (unnamed !== undefined && !this.#isUnnamedRefused) this.#parseUnnamed(unnamed);
    for (const statement of state.prepared) this.#prepare(statement);
    const comparison = this.#options.asksWal === true ? WHO_AND_WAL : WHO;
    pipeline.run('the comparison', comparison, [], (row) => this.#compareWho(row));
    const lost = late.filter((name) => !state.settings.has(name));
    if (lost.length > 0) this.#untrigger(`name OPERATOR(pg_catalog.=) ANY (ARRAY[${literals(lost)}])`);
    this.#set([...state.settings].filter(isLate));
    return pipeline.sync().send();
  }

  /** The next bytes of the server. */
  take(chunk: Uint8Array): RestoreStep {
    const end = this.#pipeline.take(chunk);
    if (end === undefined) return { kind: 'wait' };
    if (end.kind === 'ready' && this.#pipeline.isCutShort() && this.#tries < MOST_TRIES) return this.#tryAgain();
    if (end.kind === 'ready' && this.#isOnlyUnnamedRefused(end.error)) {
      this.#isUnnamedRefused = true;
      return this.#tryAgain();
    }
    const result = end.kind === 'over' ? failedBy(end.error) : this.#resultOf(end.error);
    return { kind: 'done', result, parameters: this.#parameters, rest: this.#pipeline.rest() };
  }

  /** The old server may refuse it as well: it looks at what a statement without columns names at a Bind alone. */
  #isOnlyUnnamedRefused(error: ServerError | undefined): boolean {
    return refusesUnnamed(error) && this.#options.unnamed?.description?.resultColumns === undefined;
  }

  #tryAgain(): RestoreStep {
    this.#tries += 1;
    const before = this.#pipeline;
    this.#pipeline = this.#newPipeline().closeLeftoverOf(before);
    const bytes = this.start();
    this.#pipeline.take(before.rest());
    return { kind: 'send', bytes };
  }

  #newPipeline(): Pipeline {
    return new Pipeline(LONGEST_DESCRIPTION, (name, value) => this.#parameters.set(name, value));
  }

  #untrigger(names: string): void {
    if (this.#options.serverMajor >= TRIGGERS_SINCE) this.#pipeline.run('the login triggers', untrigger(names));
  }

  #set(settings: readonly (readonly [string, string])[]): void {
    if (settings.length === 0) return;
    const names = settings.map(([name]) => name).join(', ');
    this.#pipeline.run(`the settings ${names}`, SET_ALL, [objectOf(settings)], ([name, value]) => {
      if (typeof name === 'string' && this.#unequal.get(name) === value) this.#unequal.delete(name);
    });
  }

  #prepare(statement: CarriedState['prepared'][number]): void {
    const { name, statement: sql, parameterTypes, isFromSql } = statement;
    const request = `the statement ${name}`;
    if (isFromSql) this.#pipeline.run(request, sql);
    else this.#pipeline.prepare(request, name, sql, parameterTypes);
    this.#pipeline.describe(request, name, (description) => {
      if (!isSame(description, statement)) this.#differences.push(`the columns or types of ${request}`);
    });
  }

  /** Its text is none of our encoding. */
  #parseUnnamed({ message, encoding = 'UTF8', description }: CarriedUnnamed): void {
    const pipeline = this.#pipeline;
    const isOther = encoding !== 'UTF8';
    if (isOther) pipeline.run('the encoding', ITS_ENCODING, [encoding]);
    pipeline.parseAgain(message, description?.parameterTypes);
    if (isOther) pipeline.run('the encoding', OUR_ENCODING);
    if (description === undefined) return;
    pipeline.describe(UNNAMED, '', (found) => {
      if (!isSame(found, description)) this.#differences.push(`the columns or types of ${UNNAMED}`);
    });
  }

  #compareWho([role, user, searchPath, wal]: readonly (string | null)[]): void {
    const { state } = this.#options;
    this.#wal = parsedWalReport(wal ?? undefined);
    if (role !== state.role) this.#differences.push('role');
    if (user !== state.sessionUser) this.#differences.push('session_user');
    if (searchPath !== state.searchPath) this.#differences.push('search_path');
  }

  #resultOf(error: ServerError | undefined): RestoreResult {
    if (error !== undefined) return failedBy(error);
    const differences = [...this.#unequal.keys(), ...this.#differences];
    if (differences.length === 0)
      return { kind: 'restored', wal: this.#wal, ...(this.#isUnnamedRefused && { isUnnamedRefused: true }) };
    return { kind: 'failed', reason: 'move_differs', sqlState: undefined, why: `different: ${differences.join(', ')}` };
  }
}

function failedBy(error: ServerError | undefined): RestoreResult {
  const why = error === undefined ? 'the answer is not understood' : `${error.request}: ${error.message}`;
  return { kind: 'failed', reason: 'move_restore', sqlState: error?.sqlState, why };
}

/** JSON, in the order given: an object of JavaScript would put names that look like numbers first. */
function objectOf(settings: readonly (readonly [string, string])[]): string {
  return `{${settings.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

function isSame(one: Description, other: Description): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ parameterTypes, resultColumns }: Description): string {
  return JSON.stringify([parameterTypes, resultColumns ?? 'none']);
}
