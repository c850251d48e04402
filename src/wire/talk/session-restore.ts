// Gives a new session the state of an old one, in one pipeline, and checks that it is the same: every setting, role,
// user, search_path, the columns and types of every prepared statement. Any difference is a failure: the session must
// not go on.
import type { MoveFailure } from '../../model/close-reason.ts';
import type { CarriedState, PreparedStatement, StatementDescription, WalReport } from '../../model/moves.ts';
import { IDENTITY } from './identity.ts';
import { ToldParameters } from '../messages/parameter-status.ts';
import {
  GUARD,
  LONGEST_DESCRIPTION,
  MOST_TRIES,
  Pipeline,
  refusesUnnamed,
  RESTORE_LIMITS_MS,
  timeLimits,
  UNNAMED,
} from './pipeline.ts';
import type { Description, ServerError, TalkOutcome, TalkStep } from './server-replies.ts';
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

type RestoreStep = TalkStep<TalkOutcome<RestoreResult>>;

const SET_ALL =
  'SELECT n, pg_catalog.set_config(n, v, false) FROM pg_catalog.json_each_text($1::pg_catalog.json) AS t(n, v)';
// For this transaction alone.
const OUR_ENCODING = "SET LOCAL client_encoding = 'UTF8'";
const ITS_ENCODING = "SELECT pg_catalog.set_config('client_encoding', $1, true)";
const SET_ROLE = "SELECT pg_catalog.set_config('role', $1, false)";
const WHO = `SELECT pg_catalog.current_setting('role'), session_user, pg_catalog.current_setting('search_path'),
  ${IDENTITY}`;
const WHO_AND_WAL = `${WHO}, (${WAL_EXPRESSION})::pg_catalog.text`;

/** As above, and ours are in force until the end of the transaction. */
const SET_LIMITS = `WITH t AS MATERIALIZED (
  SELECT n, v, pg_catalog.current_setting(n) AS ours FROM pg_catalog.json_each_text($1::pg_catalog.json) AS j(n, v)
) SELECT n, pg_catalog.set_config(n, v, false), pg_catalog.set_config(n, ours, true) FROM t`;
/** For this transaction alone: PostgreSQL reads literals when it prepares a statement. */
const READ_AS_BEFORE = `SELECT pg_catalog.set_config(n, v, true)
  FROM pg_catalog.json_each_text($1::pg_catalog.json) AS t(n, v)
  WHERE pg_catalog.current_setting(n) OPERATOR(pg_catalog.<>) v`;
/** Login event triggers may have set anything, and prepared statements. */
const TRIGGERS_SINCE = 17;
/** The SQLSTATE insufficient_privilege. */
const FORBIDDEN = '42501';

const isEncoding = ([name]: readonly [string, string]): boolean => name === 'client_encoding';

/** One restore on one new session. */
export class SessionRestore {
  readonly #options: RestoreOptions;
  #pipeline: Pipeline;
  #tries = 1;
  /** The parameters of all tries. */
  readonly #parameters = new ToldParameters();
  #isToldTooMuch = false;
  #differences: string[] = [];
  #wal: WalReport | undefined;
  /** Settings that are not equal yet. */
  #unequal: Map<string, string> = new Map();
  #isUnnamedRefused = false;
  /** Statements are prepared before the role is set, but for those of the second field. */
  #isBefore = false;
  readonly #toggled = new Set<string>();

  constructor(options: RestoreOptions) {
    this.#options = options;
    this.#pipeline = this.#newPipeline();
  }

  /** The bytes for the server, which has told that it is ready. */
  start(): Uint8Array {
    const { state, unnamed, serverMajor, asksWal } = this.#options;
    this.#unequal = new Map([...state.settings, ...state.custom]);
    this.#differences = [];
    const limits = timeLimits(serverMajor);
    const pipeline = this.#pipeline;
    // In a transaction of its own: a SET LOCAL behind it would leave the source of a default as 'session'.
    if (serverMajor >= TRIGGERS_SINCE) pipeline.run(GUARD, 'RESET ALL').sync();
    pipeline.guardBriefly(serverMajor, undefined, RESTORE_LIMITS_MS).run('the encoding', OUR_ENCODING);
    const isLimit = ([name]: readonly [string, string]): boolean => limits.includes(name);
    const all = [...state.settings, ...state.custom];
    this.#set(all.filter((entry) => !isLimit(entry) && !isEncoding(entry)));
    this.#set(all.filter(isLimit), SET_LIMITS);
    if (state.reading.size > 0) pipeline.run('the reading of literals', READ_AS_BEFORE, [objectOf([...state.reading])]);
    this.#prepareAll(true);
    pipeline.run(`the role ${state.role}`, SET_ROLE, [state.role]);
    this.#prepareAll(false);
    for (const statement of state.prepared) this.#compare(nameOf(statement), statement.name, statement);
    if (unnamed?.description !== undefined && !this.#isUnnamedRefused) this.#compare(UNNAMED, '', unnamed.description);
    pipeline.run('the comparison', asksWal === true ? WHO_AND_WAL : WHO, [], (row) => this.#compareWho(row));
    // It is in force for what follows.
    this.#set(all.filter(isEncoding));
    return pipeline.commit().send();
  }

  /** The next bytes of the server. */
  take(chunk: Uint8Array): RestoreStep {
    const end = this.#pipeline.take(chunk);
    if (this.#isToldTooMuch) return this.#done(failed('move_restore', 'the parameters of the server are too many'));
    if (end === undefined) return { kind: 'wait' };
    if (end.kind === 'ready' && this.#pipeline.isCutShort() && this.#tries < MOST_TRIES) return this.#tryAgain();
    if (end.kind === 'ready' && this.#tries < MOST_TRIES && this.#isForbidden(end.error)) return this.#tryAgain();
    if (end.kind === 'ready' && this.#isOnlyUnnamedRefused(end.error)) {
      this.#isUnnamedRefused = true;
      return this.#tryAgain();
    }
    const result = end.kind === 'over' ? failedBy(end.error) : this.#resultOf(end.error);
    return this.#done(result);
  }

  #done(result: RestoreResult): RestoreStep {
    return { kind: 'done', result, parameters: this.#parameters.values(), rest: this.#pipeline.rest() };
  }

  /** The old server may refuse it as well: it looks at what a statement without columns names at a Bind alone. */
  #isOnlyUnnamedRefused(error: ServerError | undefined): boolean {
    return refusesUnnamed(error) && this.#options.unnamed?.description?.resultColumns === undefined;
  }

  #tryAgain(): RestoreStep {
    this.#tries += 1;
    const before = this.#pipeline;
    this.#pipeline = this.#newPipeline().cleanUpAfter(before);
    const bytes = this.start();
    this.#pipeline.take(before.rest());
    return { kind: 'send', bytes };
  }

  #newPipeline(): Pipeline {
    return new Pipeline(LONGEST_DESCRIPTION, (name, value) => {
      if (!this.#parameters.set(name, value)) this.#isToldTooMuch = true;
    });
  }

  #set(settings: readonly (readonly [string, string])[], sql = SET_ALL): void {
    if (settings.length === 0) return;
    const names = settings.map(([name]) => name).join(', ');
    this.#pipeline.run(`the settings ${names}`, sql, [objectOf(settings)], ([name, value]) => {
      if (typeof name === 'string' && this.#unequal.get(name) === value) this.#unequal.delete(name);
    });
  }

  /** `isBefore`: those that the session may have prepared before it set its role. */
  #prepareAll(isBefore: boolean): void {
    const { state, unnamed } = this.#options;
    const isNow = (request: string): boolean => isBefore === this.#isBeforeRole(request);
    if (unnamed !== undefined && !this.#isUnnamedRefused && isNow(UNNAMED)) this.#parseUnnamed(unnamed);
    for (const statement of state.prepared) {
      if (isNow(nameOf(statement))) this.#prepare(nameOf(statement), statement);
    }
  }

  #isBeforeRole(request: string): boolean {
    return this.#toggled.has(request) ? !this.#isBefore : this.#isBefore;
  }

  /**
   * A role may use a statement that was prepared under another one, and could not prepare it: PostgreSQL looks at the
   * schemas of its names when it is prepared. True: another order may do.
   */
  #isForbidden(error: ServerError | undefined): boolean {
    const { state, unnamed } = this.#options;
    const isStatement = error?.request === UNNAMED ? unnamed !== undefined : hasStatement(state, error?.request);
    if (error?.sqlState !== FORBIDDEN || state.role === 'none' || !isStatement) return false;
    if (!this.#isBefore) this.#isBefore = true;
    else if (this.#toggled.has(error.request)) return false;
    else this.#toggled.add(error.request);
    return true;
  }

  /** A login event trigger, or an attempt before this one, may have left a statement of this name. */
  #prepare(request: string, { name, statement: sql, parameterTypes, isFromSql }: PreparedStatement): void {
    this.#pipeline.close(name);
    if (isFromSql) this.#pipeline.run(request, sql);
    else this.#pipeline.prepare(request, name, sql, parameterTypes);
  }

  #compare(request: string, name: string, expected: Description): void {
    this.#pipeline.describe(request, name, (description) => {
      if (!isSame(description, expected)) this.#differences.push(`the columns or types of ${request}`);
    });
  }

  /** Its text is not in our encoding. */
  #parseUnnamed({ message, encoding = 'UTF8', description }: CarriedUnnamed): void {
    const pipeline = this.#pipeline;
    const isOther = encoding !== 'UTF8';
    if (isOther) pipeline.run('the encoding', ITS_ENCODING, [encoding]);
    pipeline.parseAgain(message, description?.parameterTypes);
    if (isOther) pipeline.run('the encoding', OUR_ENCODING);
  }

  #compareWho([role, user, searchPath, identity, wal]: readonly (string | null)[]): void {
    const { state } = this.#options;
    this.#wal = parsedWalReport(wal ?? undefined);
    if (role !== state.role) this.#differences.push('role');
    if (user !== state.sessionUser) this.#differences.push('session_user');
    if (identity !== state.identity) this.#differences.push('the identity of the database or of a role');
    if (searchPath !== state.searchPath) this.#differences.push('search_path');
  }

  #resultOf(error: ServerError | undefined): RestoreResult {
    if (error !== undefined) return failedBy(error);
    const differences = [...this.#unequal.keys(), ...this.#differences];
    if (differences.length === 0)
      return { kind: 'restored', wal: this.#wal, ...(this.#isUnnamedRefused && { isUnnamedRefused: true }) };
    return failed('move_differs', `different: ${differences.join(', ')}`);
  }
}

function nameOf({ name }: PreparedStatement): string {
  return `the statement ${name}`;
}

function hasStatement({ prepared }: CarriedState, request: string | undefined): boolean {
  return prepared.some((statement) => nameOf(statement) === request);
}

function failedBy(error: ServerError | undefined): RestoreResult {
  if (error === undefined) return failed('move_restore', 'the answer is not understood');
  return failed('move_restore', `${error.request}: ${error.message}`, error.sqlState);
}

function failed(reason: 'move_restore' | 'move_differs', why: string, sqlState?: string): RestoreResult {
  return { kind: 'failed', reason, sqlState, why };
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
