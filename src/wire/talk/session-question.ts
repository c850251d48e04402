// Asks a server, between two transactions of a live session, for the session's state: settings, prepared statements,
// role, and all that cannot be carried. The question must be answered under every setting of the session: no backslash,
// every name and operator qualified, no array input, guards first. Its own transaction changes nothing.
import { READING_SETTINGS, type CarriedState, type NamedSettings } from '../../model/moves.ts';
import { IDENTITY } from './identity.ts';
import { CUSTOM_NAMES, NAMED_SETTINGS_VALUES, namedSettingsInput, namedSettingsSql } from './named-settings.ts';
import {
  EncodedStatement,
  GUARD,
  LONGEST_DESCRIPTION,
  MOST_TRIES,
  OUR_STATEMENT,
  Pipeline,
  refusesUnnamed,
  TRANSACTION_SETTINGS,
  timeLimits,
  UNNAMED,
} from './pipeline.ts';
import type { Description, ServerError, TalkStep } from './server-replies.ts';
import { joined } from '../messages/server-messages.ts';
import { asBase64, readState } from './session-state.ts';
import { literals } from './sql-literals.ts';
import { WAL_EXPRESSION } from './wal-report.ts';

export interface QuestionOptions {
  /** The first number of server_version: 18. */
  readonly serverMajor: number;
  /** Custom settings (`app.tenant`) whose values are wanted. Names of other settings are ignored. */
  readonly customNames: readonly string[];
  /** As the last answer of this database had them: those are wanted as well. */
  readonly named: NamedSettings;
  /** The text of the unnamed statement. Undefined: there is none. */
  readonly unnamedText?: string | undefined;
  /** A longer answer is not read. */
  readonly maxStateBytes: number;
}

type FailedQuestion = 'question_failed' | 'too_much_state' | 'unclear_statement';

export type StateAnswer =
  | { readonly kind: 'answered'; readonly state: CarriedState }
  /** The session goes on as it was. `why` is for logs. */
  | {
      readonly kind: 'failed';
      readonly reason: FailedQuestion;
      /** The code of the server's error, if it sent one. */
      readonly sqlState?: string | undefined;
      readonly why: string;
    }
  /** The server has ended the session, or cannot be understood: the session cannot go on. */
  | { readonly kind: 'over'; readonly why: string };

/** `toClient`: what the server said to the client meanwhile, unread; whole messages but for the last. */
export type QuestionStep<Result> = TalkStep<{ readonly result: Result; readonly toClient: Uint8Array }>;

/**
 * The settings. Its one column is a JSON document in UTF-8, in base64, so that it passes every client_encoding.
 * `without`: names of settings that are not wanted.
 */
function settingsSql(serverMajor: number, without: readonly string[]): string {
  // The restore sets them as the session's user, before its role.
  const mayBeSet =
    serverMajor >= 15
      ? "pg_catalog.has_parameter_privilege(session_user, name, 'SET')"
      : "pg_catalog.current_setting('is_superuser')::pg_catalog.bool";
  return `/* pointsman */ WITH s AS MATERIALIZED (
  SELECT name, source, context, reset_val FROM pg_catalog.pg_settings
), mine AS MATERIALIZED (
  SELECT name, context FROM s WHERE source OPERATOR(pg_catalog.=) 'session'
  AND name OPERATOR(pg_catalog.<>) ALL (ARRAY[${literals(without)}])
)
SELECT pg_catalog.encode(pg_catalog.convert_to(pg_catalog.json_build_object(
  'settings', (SELECT pg_catalog.json_object_agg(name, pg_catalog.current_setting(name)) FROM mine),
  'reading', (SELECT pg_catalog.json_object_agg(name, pg_catalog.current_setting(name)) FROM s
    WHERE name OPERATOR(pg_catalog.=) ANY (ARRAY[${literals(READING_SETTINGS)}])),
  'privileged', (SELECT pg_catalog.json_agg(name) FROM mine WHERE context OPERATOR(pg_catalog.<>) 'user'
    AND NOT ${mayBeSet}),
  'wal_writer_delay', (SELECT reset_val FROM s WHERE name OPERATOR(pg_catalog.=) 'wal_writer_delay')
)::pg_catalog.text, 'UTF8'), 'base64')`;
}

/** Where the planner takes the question for costly, compiling it takes longer than the question itself. */
const NO_COMPILER = 'SET LOCAL jit = off';

/** The rest. Its one column is as that of the settings. */
function questionSql(serverMajor: number): string {
  return `/* pointsman */ WITH ${namedSettingsSql(serverMajor)}
SELECT pg_catalog.encode(pg_catalog.convert_to(pg_catalog.json_build_object(
  ${NAMED_SETTINGS_VALUES},
  'custom', (SELECT pg_catalog.json_object_agg(n, pg_catalog.current_setting(n, true)) FROM (
    ${CUSTOM_NAMES}) AS c(n)
    WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_settings AS s
      WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.=) pg_catalog.lower(n))),
  'prepared', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(p.name, p.statement,
    p.parameter_types::pg_catalog.oid[], p.from_sql) ORDER BY p.prepare_time)
    FROM pg_catalog.pg_prepared_statements AS p WHERE p.name OPERATOR(pg_catalog.<>) '${OUR_STATEMENT}'),
  'listening', (SELECT pg_catalog.json_agg(c) FROM pg_catalog.pg_listening_channels() AS c),
  'cursors', (SELECT pg_catalog.json_agg(name) FROM pg_catalog.pg_cursors WHERE is_holdable),
  'advisory', (SELECT pg_catalog.count(*) FROM pg_catalog.pg_locks
    WHERE locktype OPERATOR(pg_catalog.=) 'advisory' AND pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()),
  'temporary', CASE WHEN pg_catalog.pg_my_temp_schema() OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 0 ELSE (
    SELECT pg_catalog.count(*) FROM pg_catalog.pg_depend
    WHERE refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass::pg_catalog.oid
    AND refobjid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()) END,
  'slots', (SELECT pg_catalog.count(*) FROM pg_catalog.pg_replication_slots
    WHERE temporary AND active_pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()),
  'role', pg_catalog.current_setting('role'),
  'session_user', session_user,
  'identity', ${IDENTITY},
  'search_path', pg_catalog.current_setting('search_path'),
  'wal', ${WAL_EXPRESSION}
)::pg_catalog.text, 'UTF8'), 'base64')`;
}

/** For one release of PostgreSQL: 20 kB, the same for every session. */
function newStatements(serverMajor: number) {
  return {
    serverMajor,
    settings: new EncodedStatement(settingsSql(serverMajor, TRANSACTION_SETTINGS)),
    question: new EncodedStatement(questionSql(serverMajor)),
  };
}

/** As they were needed last: a cluster has one release for long. */
let known: ReturnType<typeof newStatements> | undefined;

function statementsFor(serverMajor: number): ReturnType<typeof newStatements> {
  if (known?.serverMajor !== serverMajor) known = newStatements(serverMajor);
  return known;
}

/**
 * FETCH, perhaps behind a comment. Its rows depend on a cursor that is gone. To describe such a statement crashes
 * PostgreSQL, 15 and 18 alike: FetchStatementTargetList() in tcop/pquery.c takes its portal for valid.
 */
const FETCHES = /^[\s;]*(?:fetch\b|(?:--|\/\*)[^]*\bfetch\b)/i;

/** Base64 with its line ends, and the frame around it. */
const longestRow = (stateBytes: number): number => Math.ceil(stateBytes * 1.4) + 1_000;

/** One question to one session. Nothing else may be sent to the server until it is done. */
export class SessionQuestion {
  readonly #options: QuestionOptions;
  readonly #toClient: Uint8Array[] = [];
  /** Limits of time, as SHOW wrote them, where an earlier try was cut short. */
  readonly #limits = new Map<string, string>();
  #pipeline: Pipeline;
  #tries = 1;
  #settings: string | undefined;
  #answer: string | undefined;
  readonly #descriptions: Description[] = [];
  #unnamed: CarriedState['unnamed'];
  /** Before the last exchange: the result that it leads to. */
  #result: StateAnswer | undefined;

  constructor(options: QuestionOptions) {
    this.#options = options;
    this.#pipeline = this.#newPipeline();
  }

  /** The bytes for the server. */
  start(): Uint8Array {
    this.#pipeline = this.#asking(this.#newPipeline());
    return this.#pipeline.send();
  }

  #asking(pipeline: Pipeline): Pipeline {
    const { customNames, named, serverMajor } = this.#options;
    const { settings, question } = statementsFor(serverMajor);
    const isHurried = this.#tries > 1;
    pipeline.guardBriefly(serverMajor, () =>
      isHurried ? this.#showLimits(pipeline) : this.#askSettings(pipeline, GUARD, settings),
    );
    if (isHurried) {
      const without = [...TRANSACTION_SETTINGS, ...timeLimits(serverMajor)];
      this.#askSettings(pipeline, 'settings', settingsSql(serverMajor, without));
    }
    return pipeline
      .run(GUARD, NO_COMPILER)
      .run('question', question, [asBase64(namedSettingsInput(customNames, named))], ([answer]) => {
        this.#answer = answer ?? undefined;
      })
      .commit();
  }

  /** A limit has cut the settings short, so each limit counts as set by the session. */
  #showLimits(pipeline: Pipeline): void {
    for (const name of timeLimits(this.#options.serverMajor)) {
      pipeline.run(GUARD, `SHOW ${name}`, [], ([value]) => this.#limits.set(name, value ?? ''));
    }
  }

  #askSettings(pipeline: Pipeline, request: string, sql: string | EncodedStatement): void {
    pipeline.run(request, sql, [], ([answer]) => {
      this.#settings = answer ?? undefined;
    });
  }

  /** The next bytes of the server. */
  take(chunk: Uint8Array): QuestionStep<StateAnswer> {
    const end = this.#pipeline.take(chunk);
    if (end === undefined) return { kind: 'wait' };
    if (end.kind === 'over') {
      const { error } = end;
      const why = error === undefined ? 'the answer is not understood' : `${error.sqlState} ${error.message}`;
      // The client may read the server's last words. An answer that is not understood is to our question, not to it.
      return this.#done({ kind: 'over', why }, error?.isFatal === true ? this.#pipeline.rest() : new Uint8Array(0));
    }
    const rest = this.#pipeline.rest();
    const mayTryAgain = this.#tries < MOST_TRIES;
    if (this.#pipeline.isCutShort() && mayTryAgain) {
      this.#tries += 1;
      return this.#exchange(this.#asking(this.#newPipeline().cleanUpAfter(this.#pipeline)), rest);
    }
    const result = this.#resultOf(end.error);
    this.#result = result;
    if (this.#pipeline.isUnclean()) {
      if (!mayTryAgain) return this.#done({ kind: 'over', why: 'our own transaction does not end' }, rest);
      this.#tries += 1;
      return this.#exchange(this.#newPipeline().cleanUpAfter(this.#pipeline).sync(), rest);
    }
    if (result.kind === 'answered' && this.#mustDescribe(result.state)) {
      return this.#exchange(this.#describing(result.state), rest);
    }
    return this.#done(result, rest);
  }

  #resultOf(error: ServerError | undefined): StateAnswer {
    const before = this.#result;
    if (before?.kind === 'failed') return before;
    if (refusesUnnamed(error)) this.#unnamed = 'refused';
    else if (error !== undefined)
      return failed('question_failed', `${error.sqlState} ${error.message}`, error.sqlState);
    if (before?.kind === 'answered') return { kind: 'answered', state: this.#withDescriptions(before.state) };
    if (this.#answer === undefined || this.#settings === undefined) {
      return failed('too_much_state', `over ${this.#options.maxStateBytes} bytes`);
    }
    const state = readState([this.#settings, this.#answer], this.#limits);
    if (state === undefined) return failed('question_failed', 'the answer is not understood');
    const fetching = state.prepared.find(({ statement }) => FETCHES.test(statement));
    if (fetching !== undefined) return failed('unclear_statement', `${fetching.name}: it reads from a cursor`);
    if (FETCHES.test(this.#options.unnamedText ?? ''))
      return failed('unclear_statement', `${UNNAMED}: it reads from a cursor`);
    return { kind: 'answered', state };
  }

  /**
   * No catalog lists the columns of the rows. A statement whose columns have changed since it was prepared fails here,
   * as it would for its client, who may still know it with the columns of then.
   */
  #mustDescribe({ prepared }: CarriedState): boolean {
    const isUnnamedDue = this.#options.unnamedText !== undefined && this.#unnamed === undefined;
    return this.#descriptions.length < prepared.length || isUnnamedDue;
  }

  #describing({ prepared }: CarriedState): Pipeline {
    // Names arrive as UTF-8. A net change of nothing is not told to the client (PostgreSQL 14 and later).
    const pipeline = this.#newPipeline(LONGEST_DESCRIPTION).guardBriefly(this.#options.serverMajor);
    pipeline.run('the encoding', "SET LOCAL client_encoding = 'UTF8'");
    for (const { name } of prepared) {
      pipeline.describe(`the statement ${name}`, name, (description) => this.#descriptions.push(description));
    }
    // The last one: an error in it takes nothing from the others.
    if (this.#options.unnamedText !== undefined) {
      pipeline.describe(UNNAMED, '', (description) => (this.#unnamed = description));
    }
    return pipeline.commit();
  }

  #withDescriptions(state: CarriedState): CarriedState {
    const prepared = state.prepared.map((one, at) => ({
      ...one,
      resultColumns: this.#descriptions[at]?.resultColumns,
    }));
    return { ...state, prepared, unnamed: this.#unnamed };
  }

  /** A new exchange with the same server. `rest` belongs to it, or to the client. */
  #exchange(pipeline: Pipeline, rest: Uint8Array): QuestionStep<StateAnswer> {
    this.#pipeline = pipeline;
    const bytes = pipeline.send();
    pipeline.take(rest);
    return { kind: 'send', bytes };
  }

  #done(result: StateAnswer, rest: Uint8Array): QuestionStep<StateAnswer> {
    return { kind: 'done', result, toClient: joined([...this.#toClient, rest]) };
  }

  #newPipeline(longest = longestRow(this.#options.maxStateBytes)): Pipeline {
    const toClient = (message: Uint8Array): void => {
      this.#toClient.push(message);
    };
    return new Pipeline(longest, (_name, _value, message) => toClient(message), toClient);
  }
}

function failed(reason: FailedQuestion, why: string, sqlState?: string): StateAnswer {
  return { kind: 'failed', reason, sqlState, why };
}
