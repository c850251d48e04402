// Prepared statements of real sessions at their next server: what they mean, which role may prepare them, and what a
// login event trigger has left there.
import { expect, test } from 'vitest';
import { restore, startStateLab, stateOf } from '../../support/labs/state-lab.ts';
import { waitUntil } from '../../support/waiting/wait.ts';
import { describeOnEachPostgres } from '../../support/sandbox/each-postgres.ts';
import { aMessage } from '../../support/sockets/messages.ts';
import { aParse, aRun, valuesOf } from '../../support/sockets/wire-client.ts';

const SYNC = aMessage('S');

describeOnEachPostgres('the same session at the next server', startStateLab, (lab, logIn) => {
  test('a database, a user or a role that was renamed or made anew is not the same', async () => {
    const make = ['create role gone login', 'create role part', 'grant part to gone', 'create database here'];
    await lab.run(...make, 'create database there');
    const gone = { user: 'gone', database: 'here' };
    const client = await logIn(gone);
    await client.query('set role part');
    const state = await stateOf(client);
    const next = async (): Promise<unknown> => {
      const one = await logIn(gone);
      const restored = await restore(one, state);
      one.socket.end(aMessage('X'));
      return restored;
    };
    expect(await next()).toEqual({ kind: 'restored' });
    client.socket.end(aMessage('X'));
    const why = 'different: the identity of the database or of a role';
    const different = { kind: 'failed', reason: 'move_differs', why };
    await lab.run('alter database here rename to before', 'alter database there rename to here');
    expect(await next()).toMatchObject(different);
    await lab.run('alter database here rename to there', 'alter database before rename to here');
    expect(await next()).toEqual({ kind: 'restored' });
    await lab.run('drop role part', 'create role part', 'grant part to gone');
    expect(await next()).toMatchObject(different);
    await lab.run('drop role gone', 'create role gone login', 'grant part to gone');
    expect(await next()).toMatchObject(different);
    await lab.run('drop database here', 'drop database there', 'drop role gone', 'drop role part');
  });

  test.each([
    ["datestyle = 'SQL, DMY'", "select '1/2/2026'::date - '2026-01-01'", '1'],
    ["timezone = 'Asia/Tokyo'", "select extract(epoch from '2020-01-01 00:00'::timestamptz)::int", '1577836800'],
    ["intervalstyle = 'sql_standard'", "select '-1 2:03:04'::interval = '-1 day -02:03:04'", 'f'],
    ['standard_conforming_strings = off', "select length('a\\nb')", '4'],
    ['array_nulls = off', "select ('{null}'::text[])[1] is null", 't'],
    ['transform_null_equals = on', 'select null = null is null', 't'],
    ["timezone_abbreviations = 'India'", "select extract(hour from '2020-01-01 00:00 IST'::timestamptz)::int", '22'],
  ])('G24: a statement means the same at a server with %s', async (setting, sql, value) => {
    const [name = ''] = setting.split(' ');
    const client = await logIn();
    await client.exchange(aParse('s', sql), aParse('', sql), SYNC);
    const message = aParse('', sql);
    const state = await stateOf(client, { unnamedText: sql });
    const { unnamed } = state;
    if (unnamed === undefined || unnamed === 'refused') throw new Error('no unnamed statement');
    const before = state.reading.get(name) ?? state.reading.get({ datestyle: 'DateStyle' }[name] ?? '');
    await lab.run(`alter system set ${setting}`, 'select pg_reload_conf()');
    try {
      const isSet = async (): Promise<boolean> => {
        const one = await logIn();
        const [now] = await one.query(`show ${name}`);
        return now !== before;
      };
      await waitUntil(setting, isSet, { timeoutMs: 20_000 });
      const next = await logIn();
      const [own] = await next.query(`show ${name}`);
      expect(await restore(next, state, { message, encoding: 'UTF8', description: unnamed })).toEqual({
        kind: 'restored',
      });
      for (const one of [client, next]) {
        const answer = await one.exchange(aRun('s'), aRun(''), SYNC);
        expect(answer.filter(({ type }) => type === 'D').flatMap(({ body }) => valuesOf(body))).toEqual([value, value]);
      }
      // The next statements are read as that server reads them.
      expect(await next.query(`show ${name}`)).toEqual([own]);
    } finally {
      await lab.run(`alter system reset ${name}`, 'select pg_reload_conf()');
    }
  });

  test.each(['named', 'SQL', 'unnamed'])(
    'a %s statement whose schema the role of now may not use comes along, beside one of that role',
    async (kind) => {
      await lab.run(
        'create role mine login noinherit',
        'create role set_role',
        'grant set_role to mine',
        'create schema of_mine',
        'create table of_mine.t (a int)',
        'grant usage on schema of_mine to mine',
        'create schema of_set_role',
        'create table of_set_role.t (b int)',
        'grant usage on schema of_set_role to set_role',
      );
      try {
        const client = await logIn({ user: 'mine' });
        const sql = 'select a from of_mine.t';
        if (kind === 'SQL') await client.query(`prepare s as ${sql}`);
        await client.query('set role set_role');
        await client.exchange(aParse('late', 'select b from of_set_role.t'), SYNC);
        await client.query('set role none');
        const isUnnamed = kind === 'unnamed';
        if (kind !== 'SQL') await client.exchange(aParse(isUnnamed ? '' : 's', sql), SYNC);
        const setRole = aParse('role', 'set role set_role');
        await client.exchange(setRole, aRun('role'), SYNC);
        const state = await stateOf(client, isUnnamed ? { unnamedText: sql } : {});
        const { unnamed: description } = state;
        if (description === 'refused') throw new Error('refused');
        const next = await logIn({ user: 'mine' });
        const unnamed = { message: aParse('', sql), encoding: 'UTF8', description };
        expect(await restore(next, state, isUnnamed ? unnamed : undefined)).toEqual({ kind: 'restored' });
        const after = await stateOf(next);
        expect(after.role).toBe('set_role');
        expect(after.prepared).toHaveLength(state.prepared.length);
        expect(after.prepared).toEqual(expect.arrayContaining([...state.prepared]));
      } finally {
        await lab.run(
          'drop schema of_mine cascade',
          'drop schema of_set_role cascade',
          'drop role mine',
          'drop role set_role',
        );
      }
    },
  );

  test('a login event trigger leaves nothing that the session has put away', async () => {
    const [version] = await (await logIn()).query('show server_version_num');
    if (Number(version) < 170_000) return;
    await lab.run(
      'create role triggered login',
      `create function app.at_login() returns event_trigger language plpgsql as $$ begin
          if session_user = 'triggered' then
            execute 'prepare trg as select 1'; execute 'prepare other as select 2';
            perform set_config('app.' || 'hid', 'x', false), set_config('statement_timeout', '77s', false),
              set_config('work_mem', '77MB', false);
          end if; end $$`,
      'create event trigger at_login on login execute function app.at_login()',
    );
    try {
      const client = await logIn({ user: 'triggered' });
      await client.query('deallocate other');
      await client.query('prepare other as select 3');
      await client.query('reset all');
      const state = await stateOf(client, { customNames: ['app.hid'] });
      const next = await logIn({ user: 'triggered' });
      expect(await restore(next, state)).toEqual({ kind: 'restored' });
      const shown = `execute trg; execute other; select current_setting('app.hid', true);
          select setting || source from pg_settings where name in ('work_mem', 'statement_timeout') order by name`;
      expect(await next.query(shown)).toEqual(['1', '3', '', '0default', '4096default']);
      expect(await client.query(shown)).toEqual(['1', '3', '', '0default', '4096default']);
    } finally {
      await lab.run('drop event trigger at_login', 'drop function app.at_login()', 'drop role triggered');
    }
  });
});
