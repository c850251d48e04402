// The state of a session that its client relies on: how it is set up, and that it is still there after a move.
import { expect } from 'vitest';
import type { DrivenSession } from './driven-session.ts';
import { COMPUTED } from './prepared-database.ts';

export interface Feature {
  readonly name: string;
  /** Verbs that a driver must have for it. */
  readonly needs: readonly string[];
  /** The options of the startup packet. */
  readonly options?: string;
  readonly setUp: (session: DrivenSession) => Promise<void>;
  readonly expectKept: (session: DrivenSession) => Promise<void>;
}

const SETTINGS = {
  work_mem: '9MB',
  statement_timeout: '59s',
  search_path: 'public, pg_catalog',
  TimeZone: 'Asia/Tokyo',
  bytea_output: 'escape',
  default_transaction_isolation: 'repeatable read',
  default_transaction_read_only: 'off',
  enable_seqscan: 'off',
  lock_timeout: '7s',
};
const NAMED = ['one', 'two', 'three'];
const MANY = 300;

/** Everything that the server itself shows of the session's state, as one text. */
export function shownState(session: DrivenSession): Promise<string> {
  // A driver that prepares every statement prepares this one, too: it leaves itself out. Every name is qualified, for
  // the sake of sessions with an odd search_path.
  return session.value(`select pg_catalog.concat_ws(' ', 'shown state', current_user, session_user,
    (select pg_catalog.string_agg(pg_catalog.concat(name, '=', setting), ';' order by name)
      from pg_catalog.pg_settings where source operator(pg_catalog.=) 'session'
      and name operator(pg_catalog.!~) '^transaction'),
    (select pg_catalog.string_agg(pg_catalog.concat_ws(':', name, statement, parameter_types), ';' order by name)
      from pg_catalog.pg_prepared_statements where statement operator(pg_catalog.!~) 'shown state'))`);
}

function settings(session: DrivenSession): Promise<readonly string[]> {
  return Promise.all(Object.keys(SETTINGS).map((name) => session.value(`select current_setting('${name}')`)));
}

async function transactions(session: DrivenSession): Promise<void> {
  const rows = async (): Promise<number> => Number(await session.value('select count(*) from numbers where n = -1'));
  const before = await rows();
  for (const end of ['rollback', 'commit']) {
    for (const text of ['begin', 'insert into numbers values (-1)', end]) await session.run(text);
  }
  expect(await rows()).toBe(before + 1);
}

function verb(name: string, needs: readonly string[], act: (session: DrivenSession) => Promise<void>): Feature {
  return { name, needs, setUp: act, expectKept: act };
}

const NOTES = `select string_agg(note, ',') from notes`;
const UP_TO_1000 = '1000 500500';
const SERIES = 'select n from generate_series(1, 1000) n';

export const FEATURES: readonly Feature[] = [
  verb('simple statements and transactions', [], async (session) => {
    expect(await session.value('select 41 + 1')).toBe('42');
    await transactions(session);
  }),
  verb('unnamed statements with values', ['bind'], async (session) => {
    expect(await session.ask('bind', 'select $1::int + 1', 41)).toBe('42');
  }),
  verb('pipelined statements', ['pipeline'], async (session) => {
    expect(await session.ask('pipeline', 50)).toBe('1275');
  }),
  verb('batches', ['batch'], async (session) => {
    await session.run('delete from numbers where n between 1 and 50');
    await session.ask('batch', 'numbers', 50);
    expect(await session.value('select sum(n) from numbers where n between 1 and 50')).toBe('1275');
  }),
  verb('COPY in', ['copy_in'], async (session) => {
    await session.run('begin');
    await session.run('delete from numbers where n > 0');
    await session.ask('copy_in', 'numbers', 1000);
    expect(await session.value('select sum(n) from numbers where n > 0')).toBe('500500');
    await session.run('rollback');
  }),
  verb('COPY out', ['copy_out'], async (session) => {
    expect(await session.ask('copy_out', SERIES)).toBe(UP_TO_1000);
  }),
  verb('cursors within a transaction', ['cursor'], async (session) => {
    expect(await session.ask('cursor', SERIES)).toBe(UP_TO_1000);
  }),
  verb('the cancel of a statement', ['cancel'], async (session) => {
    expect(await session.ask('cancel')).toBe('57014');
    expect(await session.value('select 1')).toBe('1');
  }),
  {
    name: 'statements that the driver prepared',
    needs: ['prepare'],
    async setUp(session) {
      for (const [at, name] of NAMED.entries()) {
        await session.ask('prepare', name, `select $1::int + ${at}`);
        expect(await session.ask('execute', name, 1)).toBe(String(1 + at));
      }
    },
    async expectKept(session) {
      for (const [at, name] of NAMED.entries()) expect(await session.ask('execute', name, 41)).toBe(String(41 + at));
    },
  },
  {
    name: 'statements of SQL PREPARE, 300 of them',
    needs: [],
    async setUp(session) {
      await session.run(`do $do$ begin for n in 1..${MANY} loop
        execute format('prepare "Many %s" (int) as select $1 * %s', n, n); end loop; end $do$`);
    },
    async expectKept(session) {
      expect(await session.value(`select count(*) from pg_prepared_statements where name like 'Many %'`)).toBe('300');
      expect(await session.value('execute "Many 7" (6)')).toBe('42');
      expect(await session.value(`execute "Many ${MANY}" (2)`)).toBe('600');
    },
  },
  {
    name: 'settings by SET',
    needs: [],
    async setUp(session) {
      for (const [name, value] of Object.entries(SETTINGS)) {
        await session.run(`set ${name} = ${name === 'search_path' ? value : `'${value}'`}`);
      }
    },
    async expectKept(session) {
      expect(await settings(session)).toEqual(Object.values(SETTINGS));
    },
  },
  {
    name: 'settings by the startup packet',
    needs: [],
    options: '-c work_mem=8MB -c app.tenant=blue',
    setUp: async () => undefined,
    async expectKept(session) {
      expect(await session.value('show work_mem')).toBe('8MB');
      expect(await session.value(NOTES)).toBe('for blue');
    },
  },
  {
    name: 'a setting that a function made',
    needs: [],
    setUp: async (session) => void (await session.value('select hurry()')),
    async expectKept(session) {
      expect(await session.value('show work_mem')).toBe('7MB');
    },
  },
  ...[
    ['SET', `set app.tenant = 'blue'`],
    ['set_config', `select set_config('app.tenant', 'blue', false)`],
    ['a function', `select act_for('blue')`],
  ].map(([how = '', text = '']) => ({
    name: `the tenant of row level security, by ${how}`,
    needs: [],
    async setUp(session: DrivenSession) {
      expect(await session.value('select count(*) from notes')).toBe('0');
      await session.run(text);
    },
    async expectKept(session: DrivenSession) {
      expect(await session.value(NOTES)).toBe('for blue');
    },
  })),
  {
    name: 'a custom setting that the configuration lists',
    needs: [],
    setUp: async (session) => void (await session.value(`select speak('French')`)),
    async expectKept(session) {
      expect(await session.value(`select current_setting('${COMPUTED}')`)).toBe('French');
    },
  },
  {
    name: 'the role',
    needs: [],
    setUp: (session) => session.run('set role app_reader'),
    async expectKept(session) {
      expect(await session.value('select current_user')).toBe('app_reader');
      expect(await session.value('select session_user')).toBe('app');
    },
  },
  {
    name: 'cursors that were closed',
    needs: [],
    async setUp(session) {
      for (const text of ['begin', 'declare c cursor for select 1', 'fetch c', 'close c', 'commit']) {
        await session.run(text);
      }
      await session.run('begin');
      await session.run('declare held cursor with hold for select 1');
      await session.run('commit');
      await session.run('close held');
    },
    async expectKept(session) {
      expect(await session.value('select count(*) from pg_cursors where is_holdable')).toBe('0');
    },
  },
];
