// The answers of a server to the question for the state of a session. Real servers answer in test/integration/wire/.
import { describe, expect, test } from 'vitest';
import type { StateAnswer } from '../../../../src/wire/talk/session-question.ts';
import { SessionQuestion } from '../../../../src/wire/talk/session-question.ts';
import { aMessage } from '../../../support/sockets/messages.ts';
import { StatementServer, type DescribedStatement, type Refusal } from './statement-server.ts';

const PREPARED = [
  ['s1', 'select $1::int as a', ['23'], false],
  ['s2', 'PREPARE s2 AS delete from t', [], true],
];
const SETTINGS_DOCUMENT = {
  settings: { DateStyle: 'German', TimeZone: null },
  reading: { standard_conforming_strings: 'on' },
  privileged: ['log_min_messages'],
  wal_writer_delay: '200',
};
const STATE_DOCUMENT = {
  named: { version: '7', names: ['app.tenant'], unclear: [] },
  unclear: [],
  custom: { 'app.tenant': '7' },
  prepared: PREPARED,
  listening: ['news'],
  cursors: null,
  advisory: 1,
  temporary: 2,
  slots: 0,
  role: 'reader',
  session_user: 'app',
  identity: '5.10.10',
  search_path: 'public',
  wal: { replayed: '5000', ended: '740', below: '751' },
};

interface Quirks {
  readonly settings?: object;
  readonly state?: object;
  /** In place of the document. */
  readonly row?: string | null;
  readonly refuses?: { readonly sql: string; readonly times?: number } & Refusal;
  readonly describe?: Readonly<Record<string, DescribedStatement | Refusal>>;
  readonly unnamedText?: string;
  readonly serverMajor?: number;
  readonly maxStateBytes?: number;
  /** Behind each answer. */
  readonly says?: Uint8Array;
  /** Each byte comes alone. */
  readonly isSlow?: boolean;
}

interface Outcome {
  readonly result: StateAnswer;
  readonly log: readonly string[];
  /** Exchanges after the first one. */
  readonly more: number;
  readonly toClient: Buffer;
}

/** As PostgreSQL writes it, with a line end behind 76 characters. */
function encoded(document: object): string {
  return Buffer.from(JSON.stringify(document)).toString('base64').replaceAll(/.{76}/g, '$&\n');
}

function ask(quirks: Quirks = {}): Outcome {
  const { refuses, serverMajor = 18, maxStateBytes = 100_000, unnamedText, says = Buffer.alloc(0), isSlow } = quirks;
  let refused = 0;
  const server = new StatementServer({
    run: (sql) => {
      if (refuses !== undefined && sql.includes(refuses.sql) && refused < (refuses.times ?? 1)) {
        refused += 1;
        return refuses;
      }
      if (sql.startsWith('SHOW')) return [['30s']];
      if (sql.includes("'prepared'")) {
        return [[quirks.row === undefined ? encoded({ ...STATE_DOCUMENT, ...quirks.state }) : quirks.row]];
      }
      return sql.includes("'settings'") ? [[encoded({ ...SETTINGS_DOCUMENT, ...quirks.settings })]] : [];
    },
    describe: (name) => quirks.describe?.[name] ?? { types: [23], columns: ['a:23:-1'] },
  });
  const named = { version: '', names: [], unclear: [] };
  const question = new SessionQuestion({ serverMajor, customNames: [], named, maxStateBytes, unnamedText });
  let bytes = question.start();
  for (let more = 0; more < 40; more += 1) {
    const answer = Buffer.concat([server.take(bytes), says]);
    const end = isSlow === true ? answer.length - 1 : 0;
    for (let at = 0; at < end; at += 1) expect(question.take(answer.subarray(at, at + 1))).toEqual({ kind: 'wait' });
    const step = question.take(answer.subarray(end));
    if (step.kind === 'wait') throw new Error('it waits for ever');
    if (step.kind === 'done')
      return { result: step.result, log: server.log, more, toClient: Buffer.from(step.toClient) };
    expect(step.kind).toBe('send');
    ({ bytes } = step);
  }
  throw new Error('it asks without end');
}

function executed({ log }: Outcome): readonly string[] {
  return log.filter((line) => line.startsWith('E '));
}

test('the state is as the server tells it, with the description of each statement', () => {
  const described = { s1: { types: [23], columns: ['a:23:-1'] }, s2: { types: [] } };
  const { result, more } = ask({
    describe: { ...described, '': { types: [25], columns: ['b:25:-1'] } },
    unnamedText: 'x',
  });
  expect(more).toBe(1);
  expect(result).toEqual({
    kind: 'answered',
    state: {
      settings: new Map([['DateStyle', 'German']]),
      reading: new Map([['standard_conforming_strings', 'on']]),
      privilegedSettings: ['log_min_messages'],
      walWriterDelayMs: 200,
      namedSettings: { version: '7', names: ['app.tenant'], unclear: [] },
      unclearNames: undefined,
      custom: new Map([['app.tenant', '7']]),
      prepared: [
        {
          name: 's1',
          statement: 'select $1::int as a',
          parameterTypes: [23],
          resultColumns: ['a:23:-1'],
          isFromSql: false,
        },
        { name: 's2', statement: 'PREPARE s2 AS delete from t', parameterTypes: [], isFromSql: true },
      ],
      unnamed: { parameterTypes: [25], resultColumns: ['b:25:-1'] },
      listening: ['news'],
      holdableCursors: [],
      advisoryLocks: 1,
      temporaryObjects: 2,
      temporarySlots: 0,
      role: 'reader',
      sessionUser: 'app',
      identity: '5.10.10',
      searchPath: 'public',
      wal: { kind: 'standby', replayed: 5000, transactions: { allEndedBelow: 740, allVisibleBelow: 751 } },
    },
  });
});

test('an answer may come in any pieces, with news for the client behind it', () => {
  expect(ask({ isSlow: true })).toMatchObject({ result: { kind: 'answered' }, more: 1 });
  const news = aMessage('A', Buffer.from('\0\0\0\x01channel\0\0'));
  expect(ask({ says: news })).toMatchObject({ more: 1, toClient: Buffer.concat([news, news]) });
});

test('only statements are described: without one, the first answer is the last', () => {
  expect(ask().log.filter((line) => line.startsWith('D'))).toEqual(['D s1', 'D s2']);
  expect(ask({ state: { prepared: null } })).toMatchObject({ result: { kind: 'answered' }, more: 0 });
  const unnamed = ask({ state: { prepared: null }, unnamedText: 'select 1' });
  expect(unnamed).toMatchObject({ result: { kind: 'answered' }, more: 1 });
  expect(unnamed.log.filter((line) => line.startsWith('D'))).toEqual(['D ']);
});

test('each exchange is a transaction of its own, under limits of ours, and changes nothing', () => {
  const statements = executed(ask());
  expect(statements.filter((line) => line.startsWith('E BEGIN'))).toHaveLength(2);
  expect(statements.filter((line) => line === 'E COMMIT')).toHaveLength(2);
  const local = ['lock_timeout = 500', 'statement_timeout = 3000', 'transaction_timeout = 0'];
  for (const limit of local) expect(statements.filter((line) => line === `E SET LOCAL ${limit}`)).toHaveLength(2);
  expect(statements.filter((line) => line.includes("'privileged'"))).toHaveLength(1);
  expect(statements.filter((line) => line === "E SET LOCAL client_encoding = 'UTF8'")).toHaveLength(1);
  expect(executed(ask({ serverMajor: 16 })).join('\n')).not.toContain('transaction_timeout =');
  expect(executed(ask({ serverMajor: 15 }))[1]).toContain('has_parameter_privilege');
  expect(executed(ask({ serverMajor: 14 }))[1]).toContain('is_superuser');
});

describe('an answer that is not understood is no state', () => {
  test.each<[string, Quirks]>([
    ['no base64', { row: '%' }],
    ['no JSON', { row: Buffer.from('{').toString('base64') }],
    ['no UTF-8', { row: Buffer.from([0xff]).toString('base64') }],
    ['a list', { row: encoded([]) }],
    ['without a role', { state: { role: undefined } }],
    ['a role that is no text', { state: { role: 7 } }],
    ['a number that is none', { state: { advisory: 'many' } }],
    ['a statement without its kind', { state: { prepared: [['s1', 'select', [], null]] } }],
    ['types that are no list', { state: { prepared: [['s1', 'select', '23', false]] } }],
    ['unclear names of an unknown kind', { state: { unclear: ['sometimes', 'f'] } }],
    ['settings that are no object', { settings: { settings: ['DateStyle'] } }],
    ['settings that are a text', { settings: { settings: 'German' } }],
    ['no word of the WAL', { state: { wal: undefined } }],
    ['a number that is null', { state: { advisory: null } }],
    ['a number in a list', { state: { advisory: [1] } }],
    ['a number below zero, in a text', { state: { advisory: '-5' } }],
    ['a number with an exponent', { state: { advisory: '5e2' } }],
    ['a part of a number', { state: { advisory: 1.5 } }],
  ])('%s', (_, quirks) => {
    const why = 'the answer is not understood';
    expect(ask(quirks).result).toMatchObject({ kind: 'failed', reason: 'question_failed', why });
  });

  test('and an odd delay of the WAL writer is unknown', () => {
    for (const wal_writer_delay of ['200ms', '-200']) {
      const { result } = ask({ settings: { wal_writer_delay } });
      expect(result).toMatchObject({ state: { walWriterDelayMs: undefined } });
    }
  });

  test('but what is null is nothing', () => {
    const { result } = ask({ settings: { settings: null }, state: { named: null, prepared: null } });
    expect(result).toMatchObject({ state: { settings: new Map(), namedSettings: undefined, prepared: [] } });
  });

  test.each(['computes', 'unread', 'names'])('names that are unclear are named: %s', (why) => {
    expect(ask({ state: { unclear: [why, 'public.f'] } }).result).toMatchObject({
      state: { unclearNames: { why, object: 'public.f' } },
    });
  });
});

test('a state up to the limit is read', () => {
  const result = ask({ maxStateBytes: 20_000, state: { search_path: 'x'.repeat(19_000) } });
  expect(result).toMatchObject({ result: { kind: 'answered' } });
});

test.each<[string, Quirks]>([
  ['longer than the limit', { maxStateBytes: 100, state: { search_path: 'x'.repeat(2_000) } }],
  ['longer by its settings', { maxStateBytes: 1_000, settings: { settings: { DateStyle: 'x'.repeat(4_000) } } }],
  ['null', { row: null }],
])('a state that is %s is too much', (_, quirks) => {
  const why = `over ${quirks.maxStateBytes ?? 100_000} bytes`;
  expect(ask(quirks).result).toMatchObject({ kind: 'failed', reason: 'too_much_state', why });
});

test('an error of the question is told, and its transaction is ended', () => {
  const outcome = ask({ refuses: { sql: "'prepared'", sqlState: '42501', message: 'no' } });
  const result = { kind: 'failed', reason: 'question_failed', sqlState: '42501', why: '42501 no' };
  expect(outcome).toMatchObject({ result, more: 1 });
  expect(executed(outcome).at(-1)).toBe('E ROLLBACK');
});

test('a transaction of ours that does not end ends the session', () => {
  const { result } = ask({ refuses: { sql: '', sqlState: 'XX000', message: 'no', times: 99 } });
  expect(result).toEqual({ kind: 'over', why: 'our own transaction does not end' });
});

describe('statements', () => {
  test.each(['FETCH ALL FROM c', ' ; fetch c', '-- x\nFETCH c', '/* x */ fetch c'])(
    'that read from a cursor are not described, which would crash the server: %s',
    (sql) => {
      const prepared = ask({ state: { prepared: [['s9', sql, [], false]] } });
      expect(prepared.result).toMatchObject({ reason: 'unclear_statement', why: 's9: it reads from a cursor' });
      const unnamed = ask({ unnamedText: sql });
      const why = 'the unnamed statement: it reads from a cursor';
      expect(unnamed.result).toMatchObject({ reason: 'unclear_statement', why });
      expect([...prepared.log, ...unnamed.log].filter((line) => line.startsWith('D'))).toEqual([]);
    },
  );

  test('that merely name a fetch are', () => {
    expect(ask({ unnamedText: "select 'fetch'" }).result.kind).toBe('answered');
    expect(ask({ unnamedText: 'fetched()' }).result.kind).toBe('answered');
  });

  test.each(['42P01', '3F000', '26000', '0A000'])(
    'the unnamed one may be refused with %s: it is left behind',
    (sqlState) => {
      const outcome = ask({ unnamedText: 'select 1', describe: { '': { sqlState, message: 'gone' } } });
      expect(outcome.result).toMatchObject({ kind: 'answered', state: { unnamed: 'refused', prepared: [{}, {}] } });
      expect(executed(outcome).at(-1)).toBe('E ROLLBACK');
    },
  );

  test.each<[string, Quirks]>([
    ['a named one', { describe: { s1: { sqlState: '42P01', message: 'gone' } } }],
    [
      'the unnamed one for another reason',
      { describe: { '': { sqlState: '53200', message: 'gone' } }, unnamedText: 'x' },
    ],
  ])('%s may not be refused', (_, quirks) => {
    expect(ask(quirks).result).toMatchObject({ kind: 'failed', reason: 'question_failed' });
  });
});

/** The guard of so many tries comes too late. */
function cut(times: number): Quirks {
  return { refuses: { sql: 'SET LOCAL lock_timeout', sqlState: '57014', message: 'canceled', times } };
}

describe('a limit of the session that ends the guard', () => {
  test('is asked for in the next try, and counts as set by the session', () => {
    const outcome = ask(cut(1));
    expect(outcome).toMatchObject({ result: { kind: 'answered' }, more: 2 });
    for (const name of ['lock_timeout', 'statement_timeout', 'transaction_timeout']) {
      expect(outcome.result.kind === 'answered' && outcome.result.state.settings.get(name)).toBe('30s');
      expect(executed(outcome)).toContain(`E SHOW ${name}`);
    }
    const settings = executed(outcome).filter((line) => line.includes("'privileged'"));
    expect(
      settings.map((sql) => sql.includes('transaction_timeout')),
      'it asks for the others',
    ).toEqual([false, true]);
  });

  test('ends the question after twenty tries', () => {
    const { result, log } = ask(cut(99));
    expect(result).toMatchObject({ kind: 'over' });
    expect(log.filter((line) => line.startsWith('E BEGIN'))).toHaveLength(20);
  });
});
