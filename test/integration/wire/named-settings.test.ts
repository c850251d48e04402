// Custom settings that a session has without a word of them in its statements: real functions and policies name them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CarriedState } from '../../../src/model/moves.ts';
import { SessionQuestion } from '../../../src/wire/session-question.ts';
import { missingForSandbox } from '../../support/clusters/sandbox-availability.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../support/sandbox/login-server.ts';
import { choicesHere } from '../../support/sandbox/postgres.ts';
import { WireClient } from '../../support/sockets/wire-client.ts';

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
  `create function app.computed(t text) returns text language sql as
    $$ select set_config('app.' || 'five', t, false) $$`,
  `create function app.six(t text) returns text language sql as
    $$ select set_config(/* whose */ cast(e'app.six' as text), t, false) $$`,
  `create function app.seven(t text) returns text language plpgsql as
    $$ declare mine constant text := 'app.seven'; begin return set_config(mine, t, false); end $$`,
  "create function app.other() returns text language sql as $$ select 'app.none of these' $$",
  'create schema evil authorization app',
  `create function evil.regexp_matches(text, text, text) returns setof text[] language sql as
    $$ select '{a.b}'::text[] $$`,
];
const NAMED = ['App.Four_$', 'app.five', 'app.one', 'app.seven', 'app.six', 'app.three', 'app.two'];

async function stateOf(client: WireClient, asksNamedSettings = true): Promise<CarriedState> {
  const { serverMajor } = client;
  const question = new SessionQuestion({ serverMajor, customNames: [], asksNamedSettings, maxStateBytes: 65_536 });
  const { result } = await client.drive(question.start(), question);
  if (result.kind !== 'answered') throw new Error(JSON.stringify(result));
  return result.state;
}

const CHOICES = await choicesHere();

describeUnless(missingForSandbox, 'settings that functions and policies name', () => {
  describe.each(CHOICES)('on PostgreSQL %s', (choice) => {
    let lab: LoginServer;

    beforeAll(async () => {
      lab = await startLoginServer(choice);
      await lab.run(...SETUP);
      await lab.permit('host all app,postgres 127.0.0.1/32 trust');
    }, 60_000);

    afterAll(() => lab.close());

    const logIn = (): Promise<WireClient> => WireClient.connect(lab.server, { user: 'app', database: 'postgres' });

    test('the names, and the values that a session has', async () => {
      const client = await logIn();
      const before = await stateOf(client);
      expect(before.namedSettings?.toSorted()).toEqual(NAMED);
      expect(before.custom).toEqual(new Map());
      await client.query(`select app.one('1'), app.two('2'), app.three('3'), app.computed('5'); call app.four();
        select app.six('6'), app.seven('7')`);
      const { custom } = await stateOf(client);
      const expected = { 'app.one': '1', 'app.two': '2', 'app.three': '3', 'App.Four_$': 'x', 'app.five': '5' };
      expect(Object.fromEntries(custom)).toEqual({ ...expected, 'app.six': '6', 'app.seven': '7' });
    });

    test('without the wish none is looked for', async () => {
      const client = await logIn();
      await client.query("select app.one('1')");
      expect(await stateOf(client, false)).toMatchObject({ namedSettings: undefined, custom: new Map() });
    });

    test('hostile settings and a search_path with other functions change nothing', async () => {
      const client = await logIn();
      await client.query(`set standard_conforming_strings = off; set escape_string_warning = off;
        set array_nulls = off; set search_path = evil, pg_catalog`);
      await client.query("select app.one('1')");
      // Last: the limit is for the question.
      await client.query('set statement_timeout = 1');
      const { namedSettings, custom } = await stateOf(client);
      expect(namedSettings?.toSorted()).toEqual(NAMED);
      expect(Object.fromEntries(custom)).toEqual({ 'app.one': '1' });
    });
  });
});
