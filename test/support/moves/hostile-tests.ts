// Settings and texts that could make the question fail, answer something else, or change what is restored.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import { describeOnSandbox, type Legs } from '../clusters/describe-on-clusters.ts';
import { itUnless } from '../runner/unless-missing.ts';
import { until } from '../waiting/until.ts';
import { type DrivenSession, ProgramError, type RunningProgram } from './driven-session.ts';
import { shownState } from './features.ts';
import { move } from './move.ts';
import { type MovingLab, movingLab } from './moving-lab.ts';
import { type KnownProgram, nodePostgres, programs } from './programs.ts';

/** SQLSTATE. */
const QUERY_CANCELED = '57014';
const BACKEND = 'select pg_catalog.pg_backend_pid()';
/** Operators and functions that answer first, and wrongly, for this search_path. */
const SHADOWS = `
  create schema hostile;
  create function hostile.never(text, text) returns boolean language sql as 'select false';
  create function hostile.never(name, name) returns boolean language sql as 'select false';
  create function hostile.never(oid, oid) returns boolean language sql as 'select false';
  create operator hostile.= (leftarg = text, rightarg = text, function = hostile.never);
  create operator hostile.= (leftarg = name, rightarg = name, function = hostile.never);
  create operator hostile.= (leftarg = oid, rightarg = oid, function = hostile.never);
  create operator hostile.<> (leftarg = text, rightarg = text, function = hostile.never);
  create operator hostile.<> (leftarg = name, rightarg = name, function = hostile.never);
  create function hostile.current_setting(text) returns text language sql as $$ select 'shadow' $$;
  create function hostile.set_config(text, text, boolean) returns text language sql as $$ select 'shadow' $$;
  create function hostile.pg_backend_pid() returns int language sql as 'select 0';
  create table hostile.pg_prepared_statements (name text);
  create table hostile.pg_settings (name text, setting text, source text);
  grant usage on schema hostile to public;
`;

const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  'standard_conforming_strings = off': ['set standard_conforming_strings = off', 'set escape_string_warning = off'],
  'backslash_quote = off': ['set standard_conforming_strings = off', 'set backslash_quote = off'],
  'array_nulls = off': ['set array_nulls = off'],
  'transform_null_equals = on': ['set transform_null_equals = on'],
  'quote_all_identifiers = on': ['set quote_all_identifiers = on'],
  'default_transaction_deferrable and serializable': [
    'set default_transaction_deferrable = on',
    `set default_transaction_isolation = 'serializable'`,
  ],
  'default_transaction_read_only = on': ['set default_transaction_read_only = on'],
  'other formats of dates, intervals and bytes': [
    `set DateStyle = 'SQL, DMY'`,
    `set IntervalStyle = 'iso_8601'`,
    `set bytea_output = 'escape'`,
    'set extra_float_digits = -15',
  ],
  'no scans, no joins, no nested loops': [
    'set enable_seqscan = off',
    'set enable_indexscan = off',
    'set enable_hashjoin = off',
    'set enable_nestloop = off',
  ],
  'row_security = off': ['set row_security = off'],
  'a search_path of shadows before pg_catalog': ['set search_path = hostile, pg_catalog, public'],
  'an empty search_path': [`set search_path = ''`],
  'a search_path with quotes': [`set search_path = 'a"b', "c'd", public`],
  'the smallest work_mem': [`set work_mem = '64kB'`],
  'a custom setting of quotes and backslashes': [
    `select set_config('app.tenant', e'it''s "\\\\" \\n {a,b} \u{1f600}', false)`,
  ],
  'an empty custom setting': [`select set_config('app.tenant', '', false)`],
  'a role whose name needs quotes': ['set role "Odd ""Role"" \\name"'],
};

export function describeHostile(
  version: string,
  postgres: NonNullable<SandboxClusterOptions['postgres']>,
  legs?: readonly Legs[],
): void {
  describeOnSandbox({ name: `sessions with hostile settings, PostgreSQL ${version}`, legs }, (on) => {
    const lab = movingLab(on, { cluster: { postgres } });
    let running: RunningProgram | undefined;
    beforeAll(async () => {
      const { name } = await lab.cluster.leader();
      await lab.cluster.sql(name, SHADOWS, { timeoutMs: 10_000 });
      await lab.cluster.sql(name, 'create role "Odd ""Role"" \\name"; grant "Odd ""Role"" \\name" to app');
      running = nodePostgres().start(lab.directory, await lab.target(lab.moving));
    });
    afterAll(() => running?.stop());

    async function open(name: string): Promise<DrivenSession> {
      if (running === undefined) throw new Error('not started');
      return running.open(name);
    }

    it.each(Object.entries(HOSTILE).map(([name, statements], at) => [name, statements, at] as const))(
      '%s',
      async (_, statements, at) => {
        const session = await open(`hostile-${at}`);
        await session.ask('prepare', 'kept', 'select $1::pg_catalog.int4');
        // Under other rules for strings a statement with a backslash is unclear: the session would stay.
        const backslash = statements.some((one) => one.includes('standard_conforming_strings')) ? '' : '\\';
        const [odd, text] = [`"with '""${backslash}"`, `a${backslash}b`];
        await session.run(`prepare ${odd} as select '${text}'::pg_catalog.text`);
        for (const statement of statements) await session.run(statement);
        await expectMoved(lab, session);
        expect(await session.ask('execute', 'kept', 42)).toBe('42');
        expect(await session.value(`execute ${odd}`)).toBe(text);
      },
    );

    it('a statement_timeout that is shorter than the question: its state is kept, here or there', async () => {
      const session = await open('hostile-timeout');
      await session.run(`set app.tenant = 'blue'; set statement_timeout = '1ms'`);
      const { result, reason } = await move(lab.moving, session.name);
      expect([
        { result: 'moved', reason: null },
        { result: 'stayed', reason: 'question_failed' },
      ]).toContainEqual({ result, reason });
      expect(await valueInTime(session, 'show statement_timeout')).toBe('1ms');
      expect(await valueInTime(session, `select current_setting('app.tenant')`)).toBe('blue');
      expect(session.events).toEqual([]);
    });

    const psycopg2 = programs().find(({ name }) => name === 'psycopg2');
    itUnless(psycopg2?.missing, 'names and texts in LATIN1 and SJIS', () => encodings(lab, psycopg2));
  });
}

/** Asks again after each try that the session's own limit has ended. */
function valueInTime(session: DrivenSession, statement: string): Promise<string> {
  const ask = (): Promise<string | undefined> =>
    session.value(statement).catch((error: unknown) => {
      if (error instanceof ProgramError && error.state === QUERY_CANCELED) return undefined;
      throw error;
    });
  return until(statement, ask);
}

async function expectMoved(lab: MovingLab, session: DrivenSession): Promise<void> {
  const tenant = `select pg_catalog.current_setting('app.tenant', true)`;
  const backend = await session.value(BACKEND);
  const before = { state: await shownState(session), tenant: await session.value(tenant) };
  expect(await move(lab.moving, session.name)).toMatchObject({ result: 'moved', reason: null });
  expect({ state: await shownState(session), tenant: await session.value(tenant) }).toEqual(before);
  expect(await session.value(BACKEND)).not.toBe(backend);
  expect(session.events).toEqual([]);
}

async function encodings(lab: MovingLab, program: KnownProgram | undefined): Promise<void> {
  if (program === undefined) throw new Error('no psycopg2');
  const running = program.start(lab.directory, await lab.target(lab.moving));
  try {
    const texts = { LATIN1: ['é', 'größer'], SJIS: ['表', '表能ソ 予約'], EUC_JP: ['予約', '日本'] };
    for (const [encoding, [name = '', text = '']] of Object.entries(texts)) {
      const session = await running.open(`encoded-${encoding}`);
      await session.ask('encode', encoding);
      await session.run(`prepare "${name}" as select '${text}'::text`);
      await session.run(`set app.tenant = '${text}'`);
      await expectMoved(lab, session);
      expect(await session.value(`execute "${name}"`)).toBe(text);
      expect(await session.value('show client_encoding')).toBe(encoding);
      expect(await session.ask('parameter', 'client_encoding')).toBe(encoding);
    }
  } finally {
    await running.stop();
  }
}
