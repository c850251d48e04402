// The next server of a session, which takes a restore as it is told to, and the restore on it.
import { z } from 'zod';
import type { CarriedState, PreparedStatement } from '../../../../src/model/moves.ts';
import { SessionRestore } from '../../../../src/wire/talk/session-restore.ts';
import type { CarriedUnnamed, RestoreOptions, RestoreResult } from '../../../../src/wire/talk/session-restore.ts';
import { PARSE } from '../../../support/sockets/messages.ts';
import { aState } from '../../../support/values/carried-state.ts';
import { StatementServer, type Refusal } from './statement-server.ts';

export const ONE: PreparedStatement = {
  name: 's1',
  statement: 'select $1::int as a',
  parameterTypes: [23],
  resultColumns: ['a:23:-1'],
  isFromSql: false,
};
export const TWO: PreparedStatement = { ...ONE, name: 's2', statement: 'PREPARE s2 AS delete from t', isFromSql: true };
export const UNNAMED: CarriedUnnamed = {
  message: PARSE,
  encoding: undefined,
  description: { parameterTypes: [], resultColumns: ['?column?:23:-1'] },
};
export const STATE = aState({
  settings: new Map([
    ['DateStyle', 'German'],
    ['statement_timeout', '5s'],
    ['client_encoding', 'LATIN1'],
  ]),
  custom: new Map([['app.tenant', '7']]),
  reading: new Map([['standard_conforming_strings', 'off']]),
  prepared: [ONE],
  role: 'reader',
  sessionUser: 'app',
  identity: '5.10.10',
  searchPath: 'shop, public',
});
export const WAL = { replayed: '5000', ended: '740', below: '751' };

const SETTINGS = z.record(z.string(), z.string());

/** The answers of the next server where they differ from those of the old one. */
export interface Quirks {
  readonly settings?: Readonly<Record<string, string>>;
  readonly who?: Readonly<Partial<Pick<CarriedState, 'role' | 'sessionUser' | 'searchPath' | 'identity'>>>;
  readonly columns?: Readonly<Record<string, readonly string[] | undefined>>;
  readonly types?: readonly number[];
  readonly wal?: string;
  /** The statement that has this in its SQL, as often as said. */
  readonly refuses?: { readonly sql: string; readonly times?: number } & Refusal;
  /** Statements that may be prepared only in one state of the role. */
  readonly preparesOnly?: Readonly<Record<string, 'before the role' | 'with the role'>>;
}

export class NextServer {
  readonly server: StatementServer;
  #refused = 0;
  #hasRole = false;
  readonly #state: CarriedState;
  readonly #quirks: Quirks;

  constructor(state: CarriedState, quirks: Quirks) {
    this.#state = state;
    this.#quirks = quirks;
    this.server = new StatementServer({
      run: (sql, values) => this.#run(sql, values),
      onParse: (name, sql) => this.#onParse(name, sql),
      describe: (name) => this.#describe(name),
    });
  }

  #refusal(sql: string): Refusal | undefined {
    const { refuses } = this.#quirks;
    if (refuses === undefined || !sql.includes(refuses.sql) || this.#refused >= (refuses.times ?? 1)) return undefined;
    this.#refused += 1;
    return refuses;
  }

  #onParse(name: string, sql: string): Refusal | undefined {
    const only = this.#quirks.preparesOnly?.[name === '' ? 'unnamed' : name];
    if (only !== undefined && this.#hasRole !== (only === 'with the role')) {
      return { sqlState: '42501', message: 'permission denied for schema' };
    }
    return name === '_pointsman' ? undefined : this.#refusal(sql);
  }

  #run(sql: string, values: readonly string[]): readonly (readonly (string | null)[])[] | Refusal {
    const refusal = this.#refusal(sql);
    if (refusal !== undefined) return refusal;
    if (sql === 'ROLLBACK' || sql.startsWith('BEGIN')) this.#hasRole = false;
    if (sql.includes("set_config('role'")) this.#hasRole = true;
    if (sql.includes('session_user')) return [this.#who(sql)];
    if (!sql.includes('set_config(n, v, false)')) return [];
    const told = new Map(Object.entries(SETTINGS.parse(JSON.parse(values[0] ?? '{}'))));
    return [...told].map(([name, value]) => [name, this.#quirks.settings?.[name] ?? value]);
  }

  #who(sql: string): readonly (string | null)[] {
    const { role, sessionUser, searchPath, identity } = { ...this.#state, ...this.#quirks.who };
    return [
      role,
      sessionUser,
      searchPath,
      identity,
      ...(sql.includes('pg_is_in_recovery') ? [this.#quirks.wal ?? null] : []),
    ];
  }

  #describe(name: string): { types: readonly number[]; columns?: readonly string[] } {
    const known = name === '' ? UNNAMED.description : this.#state.prepared.find((one) => one.name === name);
    const { columns = {}, types = known?.parameterTypes ?? [] } = this.#quirks;
    const own = name in columns ? columns[name] : known?.resultColumns;
    return { types, ...(own !== undefined && { columns: own }) };
  }
}

interface Outcome {
  readonly result: RestoreResult | undefined;
  readonly log: readonly string[];
  readonly tries: number;
}

export function restore(quirks: Quirks = {}, changes: Partial<RestoreOptions> = {}): Outcome {
  const options: RestoreOptions = { state: STATE, unnamed: undefined, serverMajor: 18, ...changes };
  const { server } = new NextServer(options.state, quirks);
  const one = new SessionRestore(options);
  let bytes = one.start();
  for (let tries = 1; tries <= 30; tries += 1) {
    const step = one.take(server.take(bytes));
    if (step.kind !== 'send') return { result: step.kind === 'done' ? step.result : undefined, log: server.log, tries };
    ({ bytes } = step);
  }
  throw new Error('it tries without end');
}

export function executed(log: readonly string[]): readonly string[] {
  return log.filter((line) => line.startsWith('E '));
}

/** The guard of so many tries comes too late. */
export function cut(times: number): Quirks {
  return { refuses: { sql: 'SET LOCAL lock_timeout', sqlState: '57014', message: 'x', times } };
}
