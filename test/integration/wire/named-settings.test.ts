// Custom settings that a session has without a word of them in its statements: real functions and policies name them.
import { expect, test } from 'vitest';
import type { CarriedState, NamedSettings } from '../../../src/model/moves.ts';
import { NOTHING_NAMED } from '../../../src/proxy/moves/named-settings.ts';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { stateOf as answerOf } from '../../support/labs/state-lab.ts';
import { describeOnEachPostgres } from '../../support/sandbox/each-postgres.ts';
import { startLoginServer } from '../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../support/sandbox/login-server.ts';
import type { WireClient } from '../../support/sockets/wire-client.ts';

const SETUP = [
  'create role app login',
  'create schema app authorization app',
  "create function app.one(t text) returns text language sql as $$ select set_config ( 'app.one', t, false) $$",
  "create function app.two(t text) returns text language sql begin atomic select set_config('app.two', t, false); end",
  `create function app.three(t text) returns void language plpgsql as
    $$ begin execute 'select set_config(''app.three'', $1, false)' using t; end $$`,
  `create procedure app.four() language plpgsql as $$ begin SET Session "App".Four_$ = 'x'; end $$`,
  'create table app.rows (tenant text)',
  "create policy mine on app.rows using (tenant = current_setting('app.five', true))",
  `create function app.six(t text) returns text language sql as
    $$ select set_config(/* whose */ cast(e'app.six' as text), t, false) $$`,
  `create function app.seven(t text) returns text language plpgsql as
    $$ declare mine constant text := 'app.seven'; begin return set_config(mine, t, false); end $$`,
  "create function app.other() returns text language sql as $$ select 'app.none of these' $$",
  'create schema evil authorization app',
  `create function evil.regexp_matches(text, text, text) returns setof text[] language sql as
    $$ select '{a.b}'::text[] $$`,
];
const COMPUTED = `create function app.computed(t text) returns text language sql as
    $$ select set_config('app.' || 'five', t, false) $$`;
const NAMED = ['App.Four_$', 'app.five', 'app.one', 'app.seven', 'app.six', 'app.three', 'app.two'];

function stateOf(client: WireClient, named: NamedSettings = NOTHING_NAMED): Promise<CarriedState> {
  return answerOf(client, { customNames: [], named });
}

/** Its own limit is for the question, too. */
async function stateOfHostile(logIn: () => Promise<WireClient>): Promise<CarriedState> {
  const client = await logIn();
  await client.query(`set standard_conforming_strings = off; set escape_string_warning = off;
      set array_nulls = off; set search_path = evil, pg_catalog`);
  await client.query("select app.one('1')");
  await client.query('set statement_timeout = 1');
  return await stateOf(client);
}

function body(schema: string, text: string, name: string): string {
  return `create function ${schema}.${name}() returns int language plpgsql as $body$ begin ${text}
    return 1; end $body$`;
}

async function start(choice: BinariesChoice): Promise<LoginServer> {
  const lab = await startLoginServer(choice);
  await lab.run(...SETUP);
  await lab.permit('host all all 127.0.0.1/32 trust');
  return lab;
}

describeOnEachPostgres('settings that functions and policies name', start, (lab, logIn) => {
  test('the names, and the values that a session has', async () => {
    const client = await logIn();
    const before = await stateOf(client);
    expect(before.namedSettings?.names.toSorted()).toEqual(NAMED);
    expect(before.custom).toEqual(new Map());
    await lab.run(COMPUTED);
    await client.query(`select app.one('1'), app.two('2'), app.three('3'), app.computed('5'); call app.four();
        select app.six('6'), app.seven('7')`);
    const { custom } = await stateOf(client);
    await lab.run('drop function app.computed(text)');
    const expected = { 'app.one': '1', 'app.two': '2', 'app.three': '3', 'App.Four_$': 'x', 'app.five': '5' };
    expect(Object.fromEntries(custom)).toEqual({ ...expected, 'app.six': '6', 'app.seven': '7' });
  });

  test('they are looked for again after each change, by the question itself', async () => {
    const client = await logIn();
    const { namedSettings: first = NOTHING_NAMED } = await stateOf(client);
    expect(await stateOf(client, first)).toMatchObject({ namedSettings: undefined });
    const late = `create or replace function app.late() returns text language sql as
        $$ select set_config('app.late', 'L', false) $$`;
    await lab.run(late);
    await client.query('select app.late()');
    const { namedSettings: second = NOTHING_NAMED, custom } = await stateOf(client, first);
    expect(custom.get('app.late')).toBe('L');
    await lab.run(late.replace('app.late', 'app.later').replaceAll("'app.late'", "'app.later'"));
    await lab.run(late.replaceAll("'app.late'", "'app.replaced'"));
    await client.query('select app.late()');
    expect((await stateOf(client, second)).custom.get('app.replaced')).toBe('L');
    await lab.run('drop function app.late(), app.later()');
    expect((await stateOf(client, second)).namedSettings).toBeDefined();
  });

  test.each([
    ["create view app.place as select set_config('place.v', 'x', false)", 'select * from app.place', 'view'],
    [
      "create table app.place (a int, b text default set_config('place.v', 'x', false))",
      'insert into app.place values (1)',
      'table',
    ],
    [
      "create table app.place (a int check (set_config('place.v', 'x', false) is not null))",
      'insert into app.place values (1)',
      'table',
    ],
    [
      "create domain app.place as int check (set_config('place.v', 'x', false) is not null)",
      'select 1::app.place',
      'domain',
    ],
    [
      "create domain app.place as text default set_config('place.v', 'x', false)",
      `create table app.of_domain (a int, b app.place); insert into app.of_domain (a) values (1);
          drop table app.of_domain`,
      'domain',
    ],
    [
      `create table app.place (a int);
        create rule r as on insert to app.place do also select set_config('place.v', 'x', false)`,
      'insert into app.place values (1)',
      'table',
    ],
    [
      `create table app.place (a int); create rule r as on insert to app.place
          where set_config('place.v', 'x', false) is not null do also select 1`,
      'insert into app.place values (1)',
      'table',
    ],
    [
      `create table app.place (a int); create trigger t before insert on app.place for each row
          when (set_config('place.v', new.a::text, false) is null)
          execute function pg_catalog.suppress_redundant_updates_trigger()`,
      'insert into app.place values (1)',
      'table',
    ],
    [
      `create function app.place(a text default set_config('place.v', 'x', false)) returns text
          language sql as 'select a'`,
      'select app.place()',
      'function',
    ],
  ])('a setting that is set by: %s', async (create, use, kind) => {
    const owner = await logIn();
    await owner.query(create);
    const client = await logIn();
    await client.query(use);
    const { custom } = await stateOf(client);
    await owner.query(`drop ${kind} app.place`);
    expect([...custom.keys()]).toContain('place.v');
  });

  test.each([
    "create function app.wrap(a text, b text) returns text language sql as 'select set_config(a, b, false)'",
    `create function app.wrap(a text, b text) returns text language plpgsql as
        $$ begin execute format('set %s = %L', a, b); return b; end $$`,
    `create function app.wrap(a text, b text) returns text language sql begin atomic
        select set_config(a, b, false); end`,
  ])('a function that computes the name is named: %s', async (create) => {
    const client = await logIn();
    expect(await stateOf(client)).toMatchObject({ unclearNames: undefined });
    await client.query(create);
    const found = await stateOf(client);
    const wrap = { why: 'computes', object: 'function app.wrap(pg_catalog.text,pg_catalog.text)' };
    expect(found.unclearNames).toEqual(wrap);
    expect((await stateOf(client, found.namedSettings)).unclearNames).toEqual(wrap);
    await client.query('drop function app.wrap');
  });

  test("another role's functions cost the session nothing", async () => {
    await lab.run('create role evil login', 'create schema elsewhere authorization evil');
    const other = await logIn({ user: 'evil' });
    const source = `-- ${'set_config( '.repeat(9_000)}${"'a.b' ".repeat(2_000)}`;
    const names = Array.from({ length: 4_000 }, (_, at) => `set e.n${at} = 1;`).join(' ');
    await other.query(body('pg_temp', `${source}\n${names}`, 'f'));
    await other.query(body('elsewhere', `${source}\n${names}`, 'g'));
    await other.query(`create function elsewhere.wrap(a text) returns text language sql
        as 'select set_config(a, a, false)'`);
    const { namedSettings, unclearNames } = await stateOf(await logIn());
    expect(namedSettings?.names).toEqual(expect.arrayContaining(NAMED));
    expect(namedSettings?.names).toHaveLength(200);
    expect(unclearNames).toBeUndefined();
    await lab.run('drop schema elsewhere cascade');
    other.socket.destroy();
  });

  test("a lock of another role's table does not keep the question waiting", async () => {
    await lab.run('create role locker login', 'create schema locked authorization locker');
    const other = await logIn({ user: 'locker' });
    await other.query(`create table locked.t (a text default set_config('locked.t', 'x', false));
        create view locked.v as select a, set_config('locked.v', 'x', false) from locked.t`);
    await other.query(`begin; lock table locked.t, locked.v in access exclusive mode`);
    const { namedSettings } = await stateOf(await logIn());
    expect(namedSettings?.names).toEqual(expect.arrayContaining(['locked.t', 'locked.v']));
    other.socket.destroy();
    await lab.run('drop schema locked cascade');
  });

  test.each([
    ['spaces, which a pattern may go over again and again', "'set_config(' || repeat(' ', 60000) || 'a, b, true)'", 1],
    ['one long source', "repeat('-- set_config', 400000)", 1, 'f1'],
    ['many long sources', "repeat('-- nothing ', 350000)", 25, 'f17'],
    ['very many names', "repeat('set a.b;', 300000)", 2, 'f1'],
  ])("another role's sources cost the session nothing: %s", async (_kind, source, functions, unread?: string) => {
    // These are older than that of the session's own role.
    await lab.run(
      'create schema elsewhere',
      `do $do$ begin
        set local check_function_bodies = off;
        for n in 1 .. ${functions} loop
          execute format('create function elsewhere.f%s() returns text language sql as %L', n, ${source});
          execute format('alter function elsewhere.f%s() owner to evil', n);
        end loop; end $do$`,
      "create function app.young() returns text language sql as $$ select set_config('app.young', 'x', false) $$",
    );
    const { namedSettings, unclearNames } = await stateOf(await logIn());
    const own = await stateOf(await logIn({ user: 'evil' }));
    await lab.run('drop schema elsewhere cascade', 'drop function app.young()');
    expect(namedSettings?.names).toEqual(expect.arrayContaining([...NAMED, 'app.young']));
    expect(unclearNames).toBeUndefined();
    expect(own.unclearNames).toEqual(unread && { why: 'unread', object: `function elsewhere.${unread}()` });
  });

  test('a name that is one too many, or too long, is not lost in silence', async () => {
    const client = await logIn();
    const names = Array.from({ length: 250 }, (_, at) => `set many.n${at} = 1;`).join(' ');
    await client.query(body('app', names, 'many'));
    const many = await stateOf(client);
    await client.query(
      `drop function app.many; create view app.long as select set_config('a.${'b'.repeat(100)}', 'x', false)`,
    );
    const long = await stateOf(client);
    await client.query('drop view app.long');
    expect(many.unclearNames).toEqual({ why: 'names', object: 'function app.many()' });
    expect(long.unclearNames).toEqual({ why: 'names', object: 'rule "_RETURN" on app.long' });
  });

  test('hostile settings and a search_path with other functions change nothing', async () => {
    // The statement that raises the limit has 1 ms itself, which a busy machine may take.
    const { namedSettings, custom } = await stateOfHostile(logIn)
      .catch(() => stateOfHostile(logIn))
      .catch(() => stateOfHostile(logIn));
    expect(namedSettings?.names.toSorted()).toEqual(NAMED);
    expect(Object.fromEntries(custom)).toEqual({ 'app.one': '1' });
  });
});
