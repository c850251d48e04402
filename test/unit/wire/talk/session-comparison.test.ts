// The comparison after a restore: a session goes on only if everything is as it was. Restores with real servers are in
// test/integration/wire/.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { CarriedState, PreparedStatement } from '../../../../src/model/moves.ts';
import { SessionRestore } from '../../../../src/wire/talk/session-restore.ts';
import type { CarriedUnnamed, RestoreOptions, RestoreResult } from '../../../../src/wire/talk/session-restore.ts';
import { PARSE } from '../../../support/sockets/messages.ts';
import { aState } from '../../../support/values/carried-state.ts';
import { StatementServer, type Refusal } from './statement-server.ts';

const ONE: PreparedStatement = {
  name: 's1',
  statement: 'select $1::int as a',
  parameterTypes: [23],
  resultColumns: ['a:23:-1'],
  isFromSql: false,
};
const TWO: PreparedStatement = { ...ONE, name: 's2', statement: 'PREPARE s2 AS delete from t', isFromSql: true };
const UNNAMED: CarriedUnnamed = {
  message: PARSE,
  encoding: undefined,
  description: { parameterTypes: [], resultColumns: ['?column?:23:-1'] },
};
const STATE = aState({
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
const WAL = { replayed: '5000', ended: '740', below: '751' };

const SETTINGS = z.record(z.string(), z.string());

/** The answers of the next server where they differ from those of the old one. */
interface Quirks {
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

class NextServer {
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

function restore(quirks: Quirks = {}, changes: Partial<RestoreOptions> = {}): Outcome {
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

function executed(log: readonly string[]): readonly string[] {
  return log.filter((line) => line.startsWith('E '));
}

/** The guard of so many tries comes too late. */
function cut(times: number): Quirks {
  return { refuses: { sql: 'SET LOCAL lock_timeout', sqlState: '57014', message: 'x', times } };
}

const RESTORED = { kind: 'restored', wal: undefined };

test('a session that is as before goes on', () => {
  expect(restore()).toMatchObject({ result: RESTORED, tries: 1 });
  expect(restore({}, { unnamed: UNNAMED }).result).toEqual(RESTORED);
  expect(restore({}, { state: aState() }).result).toEqual(RESTORED);
});

describe('it does not go on when', () => {
  test.each<[string, Quirks, string]>([
    ['a setting has another value', { settings: { DateStyle: 'ISO' } }, 'DateStyle'],
    ['a custom setting has', { settings: { 'app.tenant': '8' } }, 'app.tenant'],
    ['a limit of time has', { settings: { statement_timeout: '0' } }, 'statement_timeout'],
    ['the encoding is another one', { settings: { client_encoding: 'UTF8' } }, 'client_encoding'],
    ['it has another role', { who: { role: 'none' } }, 'role'],
    ['it belongs to another user', { who: { sessionUser: 'admin' } }, 'session_user'],
    ['it is in another database', { who: { identity: '5.10.11' } }, 'the identity of the database or of a role'],
    ['names lead elsewhere', { who: { searchPath: 'public' } }, 'search_path'],
    ['a statement has other columns', { columns: { s1: ['a:20:-1'] } }, 'the columns or types of the statement s1'],
    ['a statement returns nothing', { columns: { s1: undefined } }, 'the columns or types of the statement s1'],
    ['a statement takes other types', { types: [20] }, 'the columns or types of the statement s1'],
  ])('%s', (_, quirks, difference) => {
    const why = `different: ${difference}`;
    expect(restore(quirks).result).toEqual({ kind: 'failed', reason: 'move_differs', sqlState: undefined, why });
  });

  test('the unnamed statement has other columns', () => {
    const { result } = restore({ columns: { '': ['a:25:-1'] } }, { unnamed: UNNAMED });
    expect(result).toMatchObject({ why: 'different: the columns or types of the unnamed statement' });
  });

  test('several things differ: it names each', () => {
    const { result } = restore({ settings: { DateStyle: 'ISO' }, who: { role: 'none', searchPath: '' } });
    expect(result).toMatchObject({ why: 'different: DateStyle, role, search_path' });
  });

  test.each<[string, Quirks, string, string | undefined]>([
    [
      'the server refuses a setting',
      { refuses: { sql: 'json_each_text', sqlState: '42501', message: 'permission denied' } },
      'the settings DateStyle, app.tenant: permission denied',
      '42501',
    ],
    [
      'the server refuses a statement',
      { refuses: { sql: 'select $1::int', sqlState: '42P01', message: 'no such table' } },
      'the statement s1: no such table',
      '42P01',
    ],
    [
      'the server ends the session',
      { refuses: { sql: "set_config('role'", sqlState: '57P01', message: 'terminating', severity: 'FATAL' } },
      'the role reader: terminating',
      '57P01',
    ],
  ])('%s', (_, quirks, why, sqlState) => {
    expect(restore(quirks)).toMatchObject({
      result: { kind: 'failed', reason: 'move_restore', why, sqlState },
      tries: 1,
    });
  });
});

test('the order: own limits, settings, reading, statements and role, comparison, and the encoding last', () => {
  const { log } = restore({}, { unnamed: UNNAMED });
  const at = (part: string): number => log.findIndex((line) => line.startsWith('E ') && line.includes(part));
  const order = [
    'RESET ALL',
    'BEGIN',
    'SET LOCAL lock_timeout',
    'SET LOCAL client_encoding',
    '{"DateStyle":"German","app.tenant":"7"}',
    '{"statement_timeout":"5s"}',
    '{"standard_conforming_strings":"off"}',
    "set_config('role'",
    'session_user',
    '{"client_encoding":"LATIN1"}',
  ].map(at);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
  expect(log.findLast((line) => line.startsWith('E '))).toBe('E COMMIT');
  const prepared = log.findIndex((line) => line.startsWith('P s1'));
  expect(log[prepared - 1], 'a login trigger may have left one of this name').toBe('C s1');
  expect(prepared).toBeGreaterThan(at("set_config('role'"));
  expect(log.slice(at('RESET ALL') + 1, at('BEGIN')).filter((line) => line === 'S')).toEqual(['S']);
});

test('login triggers came with version 17: before it nothing is reset', () => {
  expect(executed(restore({}, { serverMajor: 17 }).log)[0]).toBe('E RESET ALL');
  expect(executed(restore({}, { serverMajor: 16 }).log)[0]).toMatch(/^E BEGIN/);
});

test('a statement that SQL prepared is prepared by SQL', () => {
  const state = { ...STATE, prepared: [TWO] };
  const { log, result } = restore({}, { state });
  expect(result).toEqual(RESTORED);
  expect(log).toContain('E PREPARE s2 AS delete from t');
  expect(log.some((line) => line.startsWith('P s2'))).toBe(false);
});

test('an unnamed statement in another encoding is parsed in it', () => {
  const { log, result } = restore({}, { unnamed: { ...UNNAMED, encoding: 'LATIN1' } });
  expect(result).toEqual(RESTORED);
  const parsed = log.findIndex((line) => line.startsWith('P : '));
  expect(executed(log.slice(0, parsed)).at(-1)).toContain('[LATIN1]');
  expect(executed(log.slice(parsed))[0]).toBe("E SET LOCAL client_encoding = 'UTF8'");
});

describe('statements that the role alone may not prepare', () => {
  const both = { ...STATE, prepared: [ONE, { ...ONE, name: 's2' }] };

  test('are prepared before the role is set', () => {
    const before = restore({ preparesOnly: { s1: 'before the role' } });
    expect(before).toMatchObject({ result: RESTORED, tries: 2 });
    expect(before.log).toContain('E ROLLBACK');
  });

  test('are prepared each in the order that works', () => {
    const mixed = { s1: 'before the role', s2: 'with the role' } as const;
    expect(restore({ preparesOnly: mixed }, { state: both })).toMatchObject({ result: RESTORED, tries: 3 });
  });

  test('among them the unnamed one', () => {
    const own = { preparesOnly: { unnamed: 'before the role' } } as const;
    expect(restore(own, { unnamed: UNNAMED })).toMatchObject({ result: RESTORED, tries: 2 });
  });

  test('fail when no order works, and at once without a role', () => {
    const never = { refuses: { sql: 'select $1::int', sqlState: '42501', message: 'no', times: 99 } };
    expect(restore(never)).toMatchObject({ result: { reason: 'move_restore', sqlState: '42501' }, tries: 3 });
    const plain = { ...STATE, role: 'none' };
    expect(restore(never, { state: plain })).toMatchObject({ result: { reason: 'move_restore' }, tries: 1 });
  });
});

describe('an unnamed statement that the server refuses', () => {
  const refuses = { sql: 'select 1', sqlState: '42P01', message: 'no such table', times: 99 };
  const noRows = { ...UNNAMED, description: { parameterTypes: [], resultColumns: undefined } };

  test('is left behind when it returns no rows: a server looks at it at a Bind alone', () => {
    const { result, log, tries } = restore({ refuses }, { unnamed: noRows });
    expect([result, tries]).toEqual([{ ...RESTORED, isUnnamedRefused: true }, 2]);
    expect(log.filter((line) => line.startsWith('P : '))).toHaveLength(1);
    expect(restore({ refuses }, { unnamed: { ...UNNAMED, description: undefined } }).result).toMatchObject({
      isUnnamedRefused: true,
    });
  });

  test('ends the move when it returns rows', () => {
    expect(restore({ refuses }, { unnamed: UNNAMED }).result).toMatchObject({
      reason: 'move_restore',
      why: 'the unnamed statement: no such table',
    });
  });
});

test('a limit of the session that ends our guard is no refusal: it is tried again, twenty times at most', () => {
  expect(restore(cut(1))).toMatchObject({ result: RESTORED, tries: 2 });
  expect(restore(cut(19))).toMatchObject({ result: RESTORED, tries: 20 });
  expect(restore(cut(99))).toMatchObject({ result: { reason: 'move_restore', sqlState: '57014' }, tries: 20 });
  const late = { refuses: { sql: 'session_user', sqlState: '57014', message: 'slow' } };
  expect(restore(late)).toMatchObject({ result: { reason: 'move_restore', why: 'the comparison: slow' }, tries: 1 });
});

test('the WAL of the server is told where it is asked for', () => {
  const wal = JSON.stringify(WAL);
  expect(restore({ wal }, { asksWal: true }).result).toMatchObject({ wal: { kind: 'standby', replayed: 5000 } });
  expect(restore({}, { asksWal: true }).result).toEqual(RESTORED);
  expect(restore({ wal }).result).toEqual(RESTORED);
});
