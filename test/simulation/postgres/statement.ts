// The statements that a simulated server understands, as plain values: what the simulated clients send, and none of
// the questions of Pointsman.
import type { Transfer } from './wal.ts';
import { settingName } from './settings.ts';

/** It reads what the database has. */
export type QueryStatement =
  | { readonly kind: 'one' | 'balances' | 'session' | 'recovery' | 'channels' | 'locks' }
  | { readonly kind: 'numbers'; readonly client: string };

/** It changes the session alone, or shows it. */
export type StateStatement =
  | { readonly kind: 'empty' | 'discard_all' | 'advisory_unlock' }
  /** Undefined: the default. */
  | { readonly kind: 'set'; readonly name: string; readonly value: string | undefined; readonly isLocal: boolean }
  /** Undefined: all. */
  | { readonly kind: 'reset' | 'deallocate'; readonly name: string | undefined }
  | { readonly kind: 'show' | 'listen' | 'unlisten' | 'temporary_table' | 'holdable_cursor'; readonly name: string }
  | { readonly kind: 'advisory_lock'; readonly key: number };

export type Statement =
  | QueryStatement
  | StateStatement
  | { readonly kind: 'begin' | 'commit' | 'rollback' }
  /** `number`: undefined: the first parameter. */
  | {
      readonly kind: 'insert';
      readonly client: string;
      readonly number: number | undefined;
      readonly transfer?: Transfer;
    }
  /** In milliseconds. */
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'prepare'; readonly name: string; readonly text: string; readonly sql: string }
  | { readonly kind: 'execute'; readonly name: string; readonly value: string | undefined };

type Reader = (match: readonly string[]) => Statement;

const NAME = String.raw`([\w.]+)`;
const FORMS: readonly (readonly [RegExp, Reader])[] = [
  [/^$/, () => ({ kind: 'empty' })],
  [/^begin(?: .*)?$/i, () => ({ kind: 'begin' })],
  [/^commit$/i, () => ({ kind: 'commit' })],
  [/^rollback$/i, () => ({ kind: 'rollback' })],
  [/^discard all$/i, () => ({ kind: 'discard_all' })],
  [/^set role (\w+)$/i, ([, value]) => ({ kind: 'set', name: 'role', value, isLocal: false })],
  [
    new RegExp(`^set (local )?${NAME} (?:=|to) '?([^']*?)'?$`, 'i'),
    ([, local, name = '', value = '']) => ({
      kind: 'set',
      name: settingName(name),
      value: value.toLowerCase() === 'default' ? undefined : value,
      isLocal: local !== undefined,
    }),
  ],
  [/^reset all$/i, () => ({ kind: 'reset', name: undefined })],
  [new RegExp(`^reset ${NAME}$`, 'i'), ([, name = '']) => ({ kind: 'reset', name: settingName(name) })],
  [new RegExp(`^show ${NAME}$`, 'i'), ([, name = '']) => ({ kind: 'show', name: settingName(name) })],
  [
    /^insert into writes values \('(\w+)', (\d+|\$1)\)$/i,
    ([, client = '', number]) => ({ kind: 'insert', client, number: number === '$1' ? undefined : Number(number) }),
  ],
  [
    /^select transfer\('(\w+)', (\d+|\$1), (\d+), (-?\d+)\)$/i,
    ([, client = '', number, account, amount]) => ({
      kind: 'insert',
      client,
      number: number === '$1' ? undefined : Number(number),
      transfer: { account: Number(account), amount: Number(amount) },
    }),
  ],
  [/^select number from writes where client = '(\w+)'$/i, ([, client = '']) => ({ kind: 'numbers', client })],
  [/^select 1$/i, () => ({ kind: 'one' })],
  [/^select id, balance from accounts$/i, () => ({ kind: 'balances' })],
  [/^select session_user, current_user, current_database\(\)$/i, () => ({ kind: 'session' })],
  [/^select pg_listening_channels\(\)$/i, () => ({ kind: 'channels' })],
  [/^select count\(\*\) from pg_locks where locktype = 'advisory'$/i, () => ({ kind: 'locks' })],
  [/^select pg_is_in_recovery\(\)$/i, () => ({ kind: 'recovery' })],
  [/^select pg_sleep\(([\d.]+)\)$/i, ([, seconds]) => ({ kind: 'sleep', ms: Number(seconds) * 1_000 })],
  [
    /^prepare (\w+)(?: \([^)]*\))? as (.*)$/i,
    ([sql = '', name = '', text = '']) => ({ kind: 'prepare', name, text, sql }),
  ],
  [/^execute (\w+)(?:\('?([^')]*)'?\))?$/i, ([, name = '', value]) => ({ kind: 'execute', name, value })],
  [/^deallocate all$/i, () => ({ kind: 'deallocate', name: undefined })],
  [/^deallocate (\w+)$/i, ([, name]) => ({ kind: 'deallocate', name })],
  [/^listen (\w+)$/i, ([, name = '']) => ({ kind: 'listen', name })],
  [/^unlisten (\w+|\*)$/i, ([, name = '']) => ({ kind: 'unlisten', name })],
  [/^create temporary table (\w+) \(\)$/i, ([, name = '']) => ({ kind: 'temporary_table', name })],
  [/^declare (\w+) cursor with hold for select 1$/i, ([, name = '']) => ({ kind: 'holdable_cursor', name })],
  [/^select pg_advisory_lock\((\d+)\)$/i, ([, key]) => ({ kind: 'advisory_lock', key: Number(key) })],
  [/^select pg_advisory_unlock_all\(\)$/i, () => ({ kind: 'advisory_unlock' })],
];

/** Undefined: a syntax error. */
export function statementOf(sql: string): Statement | undefined {
  const text = sql.trim();
  for (const [form, read] of FORMS) {
    const match = form.exec(text);
    if (match !== null) return read([...match]);
  }
  return undefined;
}

/** No semicolon stands in a literal here. */
export function statementTexts(sql: string): readonly string[] {
  const texts = sql.split(';').map((text) => text.trim());
  return texts.length > 1 && texts.at(-1) === '' ? texts.slice(0, -1) : texts;
}

const WRITES = new Set<Statement['kind']>(['insert', 'temporary_table', 'listen']);

/** A standby refuses it. LISTEN is refused there as well. */
export function isRefusedInRecovery({ kind }: Statement): boolean {
  return WRITES.has(kind);
}

const QUERIES = new Set<string>(['one', 'balances', 'session', 'recovery', 'numbers', 'channels', 'locks']);
const OTHERS = new Set<string>(['begin', 'commit', 'rollback', 'insert', 'sleep', 'prepare', 'execute']);

export function isQuery(statement: Statement): statement is QueryStatement {
  return QUERIES.has(statement.kind);
}

export function isAboutState(statement: Statement): statement is StateStatement {
  return !QUERIES.has(statement.kind) && !OTHERS.has(statement.kind);
}

type Columns = readonly (readonly [name: string, type: number])[];

const COLUMNS: Readonly<Partial<Record<Statement['kind'], Columns>>> = {
  one: [['?column?', 23]],
  numbers: [['number', 23]],
  balances: [
    ['id', 23],
    ['balance', 23],
  ],
  session: [
    ['session_user', 19],
    ['current_user', 19],
    ['current_database', 19],
  ],
  recovery: [['pg_is_in_recovery', 16]],
  channels: [['pg_listening_channels', 25]],
  locks: [['count', 20]],
  sleep: [['pg_sleep', 2278]],
  advisory_lock: [['pg_advisory_lock', 2278]],
  advisory_unlock: [['pg_advisory_unlock_all', 2278]],
};

/** The columns of its rows, each with its type in pg_type. Undefined: no rows. */
export function columnsOf(statement: Statement): Columns | undefined {
  if (statement.kind === 'show') return [[statement.name, 25]];
  if (statement.kind === 'insert') return statement.transfer && [['transfer', 2278]];
  return COLUMNS[statement.kind];
}

/** The types of its parameters in pg_type: $1 is a number. */
export function parametersOf(statement: Statement): readonly number[] {
  return statement.kind === 'insert' && statement.number === undefined ? [23] : [];
}
