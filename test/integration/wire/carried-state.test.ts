// The state of real sessions: asked, given to a new session, and asked again.
import { expect, test } from 'vitest';
import { movability } from '../../../src/core/movability.ts';
import { SessionQuestion } from '../../../src/wire/talk/session-question.ts';
import { USUAL, ask, movabilityOf, restore, startStateLab, stateOf } from '../../support/labs/state-lab.ts';
import { FACTS } from '../../support/values/move-facts.ts';
import { describeOnEachPostgres } from '../../support/sandbox/each-postgres.ts';
import { aMessage } from '../../support/sockets/messages.ts';
import { aParse, aRun, valuesOf } from '../../support/sockets/wire-client.ts';
import type { WireClient } from '../../support/sockets/wire-client.ts';

const SYNC = aMessage('S');
const POLL = { timeout: 20_000 };

describeOnEachPostgres('the state of a session', startStateLab, (lab, logIn) => {
  /** A new session with the state of this one, which is equal when it is asked. */
  async function moved(client: WireClient, startup: Readonly<Record<string, string>> = {}): Promise<WireClient> {
    const state = await stateOf(client);
    expect(movability(FACTS, state)).toEqual({ kind: 'movable' });
    const next = await logIn(startup);
    expect(await restore(next, state)).toEqual({ kind: 'restored' });
    // The server writes WAL of its own meanwhile.
    expect(await stateOf(next)).toEqual({ ...state, wal: expect.objectContaining({ kind: 'primary' }) });
    return next;
  }

  test('a new session has nothing to carry', async () => {
    const state = await stateOf(await logIn({ options: '-c work_mem=3MB' }));
    expect(state).toMatchObject({ settings: new Map(), custom: new Map(), prepared: [], role: 'none' });
    expect(movability(FACTS, state)).toEqual({ kind: 'movable' });
  });

  test('the delay of the WAL writer is that of the server now', async () => {
    const client = await logIn();
    expect(await stateOf(client)).toMatchObject({ walWriterDelayMs: 200 });
    await lab.run(`alter system set wal_writer_delay = '2s'`, 'select pg_reload_conf()');
    await expect.poll(() => stateOf(client), POLL).toMatchObject({ walWriterDelayMs: 2_000 });
    await lab.run('alter system reset wal_writer_delay', 'select pg_reload_conf()');
    await expect.poll(() => stateOf(client), POLL).toMatchObject({ walWriterDelayMs: 200 });
  });

  test('settings, role and search_path come with the session', async () => {
    const client = await logIn();
    await client.query(`set work_mem = '7MB'; set statement_timeout = '90s'; set timezone to -3;
        set datestyle = 'SQL, DMY'; set bytea_output = escape; set extra_float_digits = 3;
        set application_name = 'é"''';
        set search_path = app, "$user", public; set default_transaction_isolation = 'serializable';
        set default_transaction_deferrable = on; set lock_timeout = 5; set standard_conforming_strings = off;
        set session characteristics as transaction read only; set role clerk; set client_min_messages = debug5`);
    const next = await moved(client);
    const [memory, zone, role] = await next.query('show work_mem; show timezone; select current_user');
    expect([memory, zone, role]).toEqual(['7MB', '<-03>+03', 'clerk']);
    expect(next.parameters.get('TimeZone')).toBe('<-03>+03');
    expect(await next.query('show application_name')).toEqual(await client.query('show application_name'));
  });

  test('what a session has reset, or set for one transaction, is not carried', async () => {
    const client = await logIn();
    await client.query("set work_mem = '7MB'; reset work_mem");
    await client.query("begin; set local lock_timeout = 5; select set_config('app.tenant', 't', true); commit");
    const state = await stateOf(client);
    expect(state.settings).toEqual(new Map());
    // PostgreSQL leaves an empty custom setting behind.
    expect(state.custom).toEqual(new Map([['app.tenant', '']]));
  });

  test('a limit of one millisecond is carried, and does not end the question', async () => {
    const client = await logIn();
    await client.query('set statement_timeout = 1');
    await moved(client);
    await moved(await logIn({ options: '-c statement_timeout=1' }), { options: '-c statement_timeout=1' });
  });

  test('a limit of time that the session has set to the default of its server is carried', async () => {
    const client = await logIn();
    await client.query('set statement_timeout = 0; set lock_timeout = 0; set work_mem to default');
    const state = await stateOf(client);
    const limits = { lock_timeout: '0', statement_timeout: '0' };
    expect(Object.fromEntries(state.settings)).toEqual(limits);
    const startup = { options: '-c statement_timeout=9s -c lock_timeout=8s' };
    const next = await logIn(startup);
    expect(await restore(next, state)).toEqual({ kind: 'restored' });
    expect(await next.query('show statement_timeout; show lock_timeout')).toEqual(['0', '0']);
  });

  test('a lock of another session does not keep the client waiting', { timeout: 60_000 }, async () => {
    const [client, other] = [await logIn(), await logIn({ user: 'postgres' })];
    await lab.run('create table app.locked (id int)', 'grant select on app.locked to app');
    await client.exchange(aParse('s', 'select * from app.locked'), SYNC);
    await other.query('begin; lock table app.locked');
    const why = /^55P03/;
    expect(await ask(client)).toMatchObject({ reason: 'question_failed', why });
    expect(await client.query('select 1')).toEqual(['1']);
    await other.query('commit');
    expect(await ask(client)).toMatchObject({ kind: 'answered' });
    await lab.run('drop table app.locked');
  });

  test.each([
    ['renamed', 'alter table app.star rename column a to c'],
    ['exchanged', 'alter table app.star drop column a, add column c int'],
    ['resized', 'alter table app.star alter column a type numeric(9, 2)'],
  ])('G24: a statement whose columns were %s since it was prepared does not go along', async (_, change) => {
    await lab.run('create table app.star (a numeric(9, 1), b int)', 'grant select on app.star to app');
    const client = await logIn();
    await client.exchange(aParse('s', 'select * from app.star'), SYNC);
    const before = await stateOf(client);
    await lab.run(change);
    // As its client would read it.
    expect(await ask(client)).toMatchObject({ kind: 'failed', why: /^0A000/ });
    expect(await restore(await logIn(), before)).toMatchObject({ kind: 'failed', reason: 'move_differs' });
    await lab.run('drop table app.star');
  });

  test('custom settings: by SET, by a function, with hostile values', async () => {
    const client = await logIn();
    await client.query(`set app.other = E'a\\\\b''"\\n,{}'; select app.set_tenant('zoë'); set app.mixed = 1`);
    const next = await moved(client);
    expect(await next.query("select current_setting('app.other'), current_setting('app.tenant')")).toEqual([
      'a\\b\'"\n,{}',
      'zoë',
    ]);
  });

  test('prepared statements of both kinds, with their names and types', async () => {
    const client = await logIn();
    await client.exchange(aParse('s1', 'select $1::int + $2', [0, 20]), aParse('S_ü"\'', 'select $1'), SYNC);
    await client.exchange(aParse('writes', 'insert into app.visits values ($1, $2)'), SYNC);
    await client.query('/* of a */ -- driver\n prepare "Weird ü" (int) as select $1 * 2, \'a\\b\';');
    await client.query('prepare q as select id from app.visits where id = $1');
    const next = await moved(client);
    const answer = await next.exchange(aRun('s1', ['1', '2']), SYNC);
    expect(answer.filter(({ type }) => type === 'D').flatMap(({ body }) => valuesOf(body))).toEqual(['3']);
    expect(await next.query('execute "Weird ü"(4)')).toEqual(['8', 'a\\b']);
  });

  test('300 statements', async () => {
    const client = await logIn();
    await client.exchange(...Array.from({ length: 300 }, (_, at) => aParse(`s${at}`, `select ${at}, $1::text`)), SYNC);
    await moved(client);
  });

  test('a statement with as many columns as a view may have, and long names', async () => {
    const columns = Array.from({ length: 1_600 }, (_, at) => `${at} as ${'c'.repeat(50)}_${at}`);
    await lab.run(`create view app.wide as select ${columns.join(', ')}`, 'grant select on app.wide to app');
    const client = await logIn();
    await client.exchange(aParse('wide', 'select * from app.wide'), SYNC);
    await moved(client);
  });

  test('the unnamed statement survives the question and comes with the session', async () => {
    const client = await logIn({ client_encoding: 'LATIN1' });
    const parse = aParse('', Buffer.from("select 'é' || $1::text", 'latin1'));
    await client.exchange(parse, SYNC);
    const state = await stateOf(client, { unnamedText: "select 'é' || $1::text" });
    const description = { parameterTypes: [25], resultColumns: ['?column?:25:-1'] };
    expect(state.unnamed).toEqual(description);
    const next = await logIn({ client_encoding: 'LATIN1' });
    const unnamed = { message: parse, encoding: 'LATIN1', description };
    expect(await restore(next, state, unnamed)).toEqual({ kind: 'restored' });
    for (const one of [client, next]) {
      const answer = await one.exchange(aRun('', ['!']), SYNC);
      expect(answer.find(({ type }) => type === 'D')?.body.toString('latin1')).toContain('é!');
    }
  });

  test('an unnamed statement that the next server refuses, or describes in another way, fails the move', async () => {
    const state = await stateOf(await logIn());
    const description = { parameterTypes: [], resultColumns: ['n:23:-1'] };
    const restored = async (sql: string): Promise<unknown> =>
      restore(await logIn(), state, { message: aParse('', sql), encoding: 'UTF8', description });
    expect(await restored('select 1 as n')).toEqual({ kind: 'restored' });
    expect(await restored('select nonsense')).toMatchObject({ kind: 'failed', reason: 'move_restore' });
    const why = 'different: the columns or types of the unnamed statement';
    expect(await restored("select '1' as n")).toMatchObject({ kind: 'failed', reason: 'move_differs', why });
  });

  test.each([
    ['latin', 'LATIN1', Buffer.from('é', 'latin1')],
    ['latin', 'UTF8', Buffer.from('é')],
    ['postgres', 'LATIN1', Buffer.from('é', 'latin1')],
    ['postgres', 'SJIS', Buffer.from([0x95, 0x5c])],
    ['ascii', 'SQL_ASCII', Buffer.from('é')],
  ])('names and texts in the database %s under %s', async (database, encoding, letter) => {
    const startup = { database, client_encoding: encoding };
    const client = await logIn(startup);
    await client.exchange(
      aParse('', ''),
      aMessage('P', Buffer.concat([letter, Buffer.from("\0select '"), letter, Buffer.from("'\0\0\0")])),
      SYNC,
    );
    await client.query(Buffer.concat([Buffer.from('prepare "p'), letter, Buffer.from('" as select 1')]));
    await client.query(Buffer.concat([Buffer.from("set app.tenant = '"), letter, Buffer.from("'")]));
    const next = await moved(client, startup);
    const answer = await next.exchange(
      aMessage('B', Buffer.concat([Buffer.from('\0'), letter, Buffer.alloc(7)])),
      aMessage('E', Buffer.alloc(5)),
      SYNC,
    );
    expect(answer.find(({ type }) => type === 'D')?.body.subarray(6)).toEqual(letter);
  });

  test('a client_encoding that the session has set', async () => {
    const client = await logIn();
    await client.query("set client_encoding = 'SJIS'; set app.tenant = 'a'");
    const next = await moved(client);
    expect(next.parameters.get('client_encoding')).toBe('SJIS');
  });

  test('operators and functions that hide those of PostgreSQL change nothing', async () => {
    const client = await logIn();
    await client.query("set search_path = evil, pg_catalog; set work_mem = '7MB'");
    await client.query('prepare p as select 1');
    const { settings, prepared } = await stateOf(await moved(client));
    expect(settings.get('work_mem')).toBe('7MB');
    expect(prepared).toHaveLength(1);
  });

  test.each([
    'set array_nulls = off',
    'set default_transaction_isolation = serializable; set default_transaction_deferrable = on; ' +
      'set default_transaction_read_only = on',
    'set escape_string_warning = on; set standard_conforming_strings = off; set backslash_quote = off',
    'set quote_all_identifiers = on; set transform_null_equals = on; set row_security = off',
    'set xmloption = document; set intervalstyle = iso_8601; set bytea_output = escape',
    'set enable_seqscan = off; set enable_indexscan = off; set enable_hashagg = off; set jit_above_cost = 0',
    "set work_mem = '64kB'; set from_collapse_limit = 1",
    'set plan_cache_mode = force_generic_plan; set check_function_bodies = off; set default_toast_compression = pglz',
  ])('a question under: %s', async (settings) => {
    const client = await logIn();
    await client.query(settings);
    await client.query('prepare p as select $1::int');
    await moved(client);
  });

  test.each([
    ['listening', 'listen "Élan"'],
    ['holdable_cursors', 'begin; declare c cursor with hold for select 1; commit'],
    ['advisory_locks', 'select pg_advisory_lock(1), pg_advisory_lock_shared(2, 3)'],
    ['advisory_locks', 'select app.lock()'],
    ['temporary_objects', 'create temp table t (id int)'],
    ['temporary_objects', 'create temp view v as select 1'],
    ['temporary_objects', 'create temp sequence s'],
    ['temporary_objects', 'select 1 as id into temp t'],
    ['temporary_objects', "create function pg_temp.f() returns int language sql as 'select 1'"],
    ['temporary_objects', "create type pg_temp.colour as enum ('red')"],
    ['temporary_objects', 'create domain pg_temp.d as int'],
    ['privileged_settings', 'select app.log_all()'],
    ['unclear_statement', 'select 1; prepare p as select 2'],
    ['unclear_statement', 'prepare p as select 2; select 1'],
  ])('pinned: %s by %s', async (reason, sql) => {
    const client = await logIn();
    await client.query(sql);
    expect(await movabilityOf(client)).toMatchObject({ kind: 'pinned', reason });
  });

  test('pinned: a text whose backslash may have had another meaning', async () => {
    const client = await logIn();
    await client.query("prepare p as select 'a\\b'");
    await client.query('set standard_conforming_strings = off');
    expect(await movabilityOf(client)).toMatchObject({ kind: 'pinned', reason: 'unclear_statement' });
  });

  test('a setting that an operator has granted to the role is carried', async () => {
    const client = await logIn();
    await lab.run('grant set on parameter log_min_messages to app');
    await client.query('set log_min_messages = error');
    await moved(client);
  });

  test('pinned: another session_user, a temporary slot', async () => {
    const client = await logIn({ user: 'postgres' });
    const facts = { ...FACTS, loginRole: 'postgres' };
    await client.query('set session authorization other');
    expect(movability(facts, await stateOf(client))).toMatchObject({ reason: 'session_authorization' });
    await client.query("reset session authorization; select pg_create_physical_replication_slot('s', true, true)");
    expect(movability(facts, await stateOf(client))).toMatchObject({ reason: 'temporary_slots' });
  });

  test('temporary objects that are gone do not keep a session', async () => {
    const client = await logIn();
    await client.query('create temp table t (id int); drop table t');
    await client.query('begin; create temp table t (id int) on commit drop; commit');
    expect(await movabilityOf(client)).toEqual({ kind: 'movable' });
  });

  test('a session with too much state goes on', async () => {
    const client = await logIn();
    await client.exchange(aParse('long', `select '${'x'.repeat(90_000)}'`), SYNC);
    expect(await ask(client)).toMatchObject({ kind: 'failed', reason: 'too_much_state' });
    expect(await client.query('select 1')).toEqual(['1']);
  });

  test('a question that fails leaves nothing behind', async () => {
    const client = await logIn();
    await lab.run('revoke execute on function pg_catalog.pg_listening_channels() from public');
    try {
      expect(await ask(client)).toMatchObject({ kind: 'failed', reason: 'question_failed', why: /^42501/ });
    } finally {
      await lab.run('grant execute on function pg_catalog.pg_listening_channels() to public');
    }
    expect(await client.query('select name from pg_prepared_statements')).toEqual([]);
    expect(await movabilityOf(client)).toEqual({ kind: 'movable' });
  });

  test("the client's own statement of our name is not harmed", async () => {
    const client = await logIn();
    await client.exchange(aParse('_pointsman', 'select 5'), SYNC);
    expect(await ask(client)).toMatchObject({ kind: 'failed', reason: 'question_failed' });
    const answer = await client.exchange(aRun('_pointsman'), SYNC);
    expect(answer.map(({ type }) => type).join('')).toBe('2DCZ');
  });

  test('a server that ends the session is heard', async () => {
    const client = await logIn();
    const [pid] = await client.query('select pg_backend_pid()');
    await lab.run(`select pg_terminate_backend(${pid}, 10000)`);
    const question = new SessionQuestion({ ...USUAL, serverMajor: client.serverMajor });
    const { result, toClient } = await client.drive(question.start(), question);
    expect(result).toMatchObject({ kind: 'over', why: /^57P01/ });
    expect(Buffer.from(toClient).toString()).toContain('C57P01');
  });

  test('G24: a change of types, a lost table and a lost role end the move', async () => {
    const client = await logIn();
    await client.exchange(aParse('s', 'select * from app.types'), SYNC).catch(() => []);
    await lab.run('create table app.types (id int)', 'grant all on app.types to app');
    await client.exchange(aParse('s', 'select * from app.types'), SYNC);
    const state = await stateOf(client);
    await lab.run('alter table app.types alter id type text');
    expect(await restore(await logIn(), state)).toMatchObject({ kind: 'failed', reason: 'move_differs' });
    await lab.run('drop table app.types');
    expect(await restore(await logIn(), state)).toMatchObject({ reason: 'move_restore', sqlState: '42P01' });
    const other = { ...state, prepared: [] };
    expect(await restore(await logIn(), { ...other, role: 'other' })).toMatchObject({ reason: 'move_restore' });
    expect(await restore(await logIn(), { ...other, searchPath: 'evil' })).toMatchObject({ reason: 'move_differs' });
  });
});
