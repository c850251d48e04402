// The part of a session's state that no server tells comes along all the same, or keeps the session where it is.
import { expect, onTestFinished, test } from 'vitest';
import type { MovesPolicy } from '../../../../src/model/moves.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { aMessage } from '../../../support/sockets/messages.ts';
import { WireClient, aParse, aRun, valuesOf } from '../../../support/sockets/wire-client.ts';
import type { ServerMessage } from '../../../support/sockets/wire-client.ts';
import { until } from '../../../support/waiting/until.ts';

const SYNC = aMessage('S');
const FLUSH = aMessage('H');
const DESCRIBE = aMessage('D', Buffer.from('Sone\0'));

async function start(
  moves: Partial<MovesPolicy> = {},
): Promise<{ login: LoginServer; lab: ProxyLab; client: WireClient }> {
  const login = await startLoginServer('embedded');
  onTestFinished(() => login.close());
  await login.run('create role trusted login');
  await login.permit('host all trusted 127.0.0.1/32 trust');
  const { name, host, port } = login.server;
  const lab = await startProxyLab({ moves, table: { write: { open: { [name]: { host, port } } } } });
  onTestFinished(() => lab.proxy.close());
  const client = await WireClient.connect(lab.address('write'), { user: 'trusted', database: 'postgres' });
  return { login, lab, client };
}

function rowsOf(answer: readonly ServerMessage[]): readonly string[] {
  return answer.filter(({ type }) => type === 'D').flatMap(({ body }) => valuesOf(body));
}

function typesOf(answer: readonly ServerMessage[]): string {
  return answer.map(({ type }) => type).join('');
}

async function activityOf(lab: ProxyLab): Promise<unknown> {
  return (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity;
}

describeUnless(missingForSandbox, 'the memory of a session', () => {
  test('the unnamed statement, custom settings of its statements, and news of parameters', async () => {
    const { login, lab, client } = await start();
    await client.query("set app.tenant = 'seven'");
    await client.exchange(aParse('', 'select $1::int * 2'), SYNC);
    await login.run("alter role trusted set timezone = 'Asia/Tokyo'");
    for (let round = 0; round < 2; round += 1) {
      expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
      const answer = await client.exchange(aRun('', ['21']), SYNC);
      expect(rowsOf(answer)).toEqual(['42']);
      const told = answer.filter(({ type }) => type === 'S').map(({ body }) => body.toString());
      // Once, and nothing that the client knows already.
      expect(told).toEqual(round === 0 ? ['TimeZone\0Asia/Tokyo\0'] : []);
    }
    expect(await client.query("select current_setting('app.tenant')")).toEqual(['seven']);
  }, 60_000);

  test.each([
    ['select setseed(0.5)', 'hidden_state'],
    ["select set_config(name, '1', false) from (values ('app.computed')) as t(name)", 'hidden_state'],
  ])(
    'stays: %s',
    async (sql, reason) => {
      const { lab, client } = await start();
      await client.query(sql);
      expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason });
      expect(await client.query('select 1')).toEqual(['1']);
    },
    60_000,
  );

  test('stays: a statement that was prepared under a setting that no server tells, or in a function', async () => {
    const { login, lab, client } = await start();
    await login.run(`create function hides() returns void language plpgsql set array_nulls = off as
      $$ begin execute 'prepare hidden as select ''{null}''::text[]'; end $$`);
    await client.query('select hides()');
    expect(await lab.proxy.move(1)).toMatchObject({ reason: 'unclear_statement', detail: 'hidden' });
    await client.query('deallocate hidden; set array_nulls = off');
    await client.query("prepare own as select '{null}'::text[]");
    await client.query('set array_nulls = on');
    expect(await lab.proxy.move(1)).toMatchObject({ reason: 'unclear_statement', detail: 'own' });
    expect(await client.query('select x is null from unnest(array[null]) as x')).toEqual(['t']);
    await client.query('deallocate own');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
  }, 60_000);

  test('a client that has only prepared, and waits without a Sync, moves and notices nothing', async () => {
    const { login, lab, client } = await start();
    await client.query("set statement_timeout = '50ms'");
    // As prepare() of asyncpg.
    client.socket.write(Buffer.concat([aParse('one', 'select $1::int * 2'), DESCRIBE, FLUSH]));
    // The server would fail the next message.
    const isOver = `select from pg_stat_activity where query like '%* 2' and pid <> pg_backend_pid()
      and clock_timestamp() > query_start + interval '100ms'`;
    await until('the limit', async () => (await login.server.query(isOver)).length === 1);
    for (let round = 0; round < 2; round += 1) expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
    expect(typesOf(await client.exchange(aRun('one', ['21']), SYNC))).toBe('1tT2DCZ');
    await client.query('listen news');
    client.socket.write(Buffer.concat([aParse('two', 'select 2'), FLUSH]));
    await until('the answer', async () => (await activityOf(lab)) === 'idle');
    // It is asked, and stays.
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'listening' });
    expect(typesOf(await client.exchange(SYNC))).toBe('1Z');
    expect(await client.query('execute two')).toEqual(['2']);
  }, 60_000);

  test('stays: a portal or a failed batch without a Sync, which a Sync would end', async () => {
    const { lab, client } = await start({ waitMs: 50 });
    await client.exchange(aParse('one', 'select 1'), SYNC);
    const [bind, execute] = [aRun('one').subarray(0, -10), aRun('one').subarray(-10)];
    client.socket.write(Buffer.concat([bind, FLUSH]));
    await until('it is sent', async () => (await activityOf(lab)) === 'busy');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'busy' });
    expect(typesOf(await client.exchange(execute, SYNC))).toBe('2DCZ');
    client.socket.write(Buffer.concat([aParse('two', 'selec'), FLUSH]));
    await until('it is sent', async () => (await activityOf(lab)) === 'busy');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'busy' });
    expect(typesOf(await client.exchange(aRun('one'), SYNC))).toBe('EZ');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
  }, 60_000);

  test('stays: an unnamed statement that is too long', async () => {
    const { lab, client } = await start();
    await client.exchange(aParse('', `select '${'x'.repeat(20_000)}'`), SYNC);
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'unnamed_statement' });
  }, 60_000);

  test.each([
    ['another column', 'alter table seen alter v type text'],
    ['no table', 'drop table seen'],
  ])(
    'G24: an unnamed statement that its own server refuses by now (%s) does not come back',
    async (_, change) => {
      const { login, lab, client } = await start();
      await login.run('create table seen (v int)', 'grant all on seen to trusted');
      await client.exchange(aParse('', 'select v from seen'), SYNC);
      await login.run(change);
      expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
      const answer = await client.exchange(aRun(''), SYNC);
      expect(String(answer.find(({ type }) => type === 'E')?.body)).toContain('C26000');
      await login.run('drop table if exists seen', 'create table seen (v int)', 'grant all on seen to trusted');
      expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
      expect(String((await client.exchange(aRun(''), SYNC))[0]?.body)).toContain('C26000');
    },
    60_000,
  );

  test('G24: the unnamed statement keeps the types of its parameters', async () => {
    const { login, lab, client } = await start();
    await login.run('create table kept (v int)', 'grant all on kept to trusted');
    await client.exchange(aParse('', 'insert into kept values ($1)'), SYNC);
    await login.run('alter table kept alter v type bigint');
    const describe = aMessage('D', Buffer.from('S\0'));
    const before = await client.exchange(describe, SYNC);
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
    expect(await client.exchange(describe, SYNC)).toEqual(before);
  }, 60_000);

  test('G24: an unnamed statement without columns whose table is gone does not come back', async () => {
    const { login, lab, client } = await start();
    await login.run('create table gone (v int)', 'grant all on gone to trusted');
    await client.exchange(aParse('other', 'select 7'), SYNC);
    await client.exchange(aParse('', 'insert into gone values (1)'), SYNC);
    await login.run('drop table gone');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
    expect(String((await client.exchange(aRun(''), SYNC))[0]?.body)).toContain('C26000');
    await login.run('create table gone (v int)', 'grant all on gone to trusted');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
    expect(String((await client.exchange(aRun(''), SYNC))[0]?.body)).toContain('C26000');
    expect((await client.exchange(aRun('other'), SYNC)).map(({ type }) => type)).toContain('D');
  }, 60_000);

  test('G24: an unnamed FETCH of a cursor that is gone is not described, and the session stays', async () => {
    const { lab, client } = await start();
    await client.exchange(aParse('end', 'commit'), SYNC);
    await client.query('begin; declare c cursor for select 1');
    await client.exchange(aParse('', 'fetch c'), aRun(''), SYNC);
    await client.exchange(aRun('end'), SYNC);
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'unclear_statement' });
    expect(await client.query('select 1')).toEqual(['1']);
  }, 60_000);

  test.each([
    ['a Parse', aParse('', 'select 2')],
    ['a Close', aMessage('C', Buffer.from('S\0'))],
  ])(
    'G24: %s that the server skipped after an error takes nothing away: the session stays',
    async (_, skipped) => {
      const { lab, client } = await start();
      await client.exchange(aParse('', 'select 1'), SYNC);
      await client.exchange(aRun('nobody'), skipped, SYNC);
      const stayed = { kind: 'stayed', reason: 'unclear_statement', detail: 'the unnamed statement, after an error' };
      expect(await lab.proxy.move(1)).toMatchObject(stayed);
      expect(rowsOf(await client.exchange(aRun(''), SYNC))).toEqual(['1']);
      await client.exchange(aParse('', 'select 3'), SYNC);
      expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
      expect(rowsOf(await client.exchange(aRun(''), SYNC))).toEqual(['3']);
    },
    60_000,
  );

  test('G24: a Parse that failed leaves no unnamed statement, also where it would not fail again', async () => {
    const { login, lab, client } = await start();
    await client.exchange(aParse('', 'select 1'), SYNC);
    await client.exchange(aParse('', 'select 2 from later'), aRun(''), SYNC);
    await login.run('create table later()', 'grant all on later to trusted');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'moved' });
    const answer = await client.exchange(aRun(''), SYNC);
    expect(answer.find(({ type }) => type === 'E')?.body.toString()).toContain('C26000');
  }, 60_000);
});
