// A real PostgreSQL server crashes while a session is in a transaction, which is void then: its client reads 40001, and
// the session goes on with its state of before.
import { expect, test } from 'vitest';
import { LossLab, type Heard } from '../../../support/labs/loss-lab.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { until } from '../../../support/waiting/until.ts';

describeUnless(missingForSandbox, 'a loss in a transaction, with `on_stays: abort`', () => {
  const on = LossLab.forTests();
  const TWICE = { name: 'twice', text: 'insert into kept select $1::int * 2' };

  /** Its state is known, and its transaction has a row. */
  async function startOpen(): Promise<Heard> {
    await on.start({ onStays: 'abort' });
    const heard = await on.connect();
    await heard.client.query("set work_mem = '7MB'");
    await heard.client.query({ ...TWICE, values: [0] });
    await on.idleForLong();
    await heard.client.query('begin');
    await heard.client.query('insert into kept values ($1)', [201]);
    await heard.client.query({ ...TWICE, values: [101] });
    await heard.client.query("set work_mem = '9MB'");
    return heard;
  }

  /** With its state of before the transaction, of which nothing is stored. */
  async function goesOn({ client, errors }: Heard): Promise<void> {
    await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' });
    await client.query('rollback');
    expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect((await client.query('select from kept where n > 200')).rowCount).toBe(0);
    await client.query({ ...TWICE, values: [0] });
    expect(errors).toEqual([]);
  }

  test.each([
    ['a statement', 'insert into kept values (202)', []],
    ['a statement with values', 'insert into kept values ($1)', [202]],
  ])('the client that waits reads 40001 for %s', async (_, text, values) => {
    const heard = await startOpen();
    await on.crash();
    await expect(heard.client.query(text, values)).rejects.toMatchObject({ code: '40001' });
    await goesOn(heard);
    expect(heard.notices).toEqual([]);
  });

  test('a COMMIT fails, and the transaction is over', async () => {
    const heard = await startOpen();
    await on.crash();
    await expect(heard.client.query('commit')).rejects.toMatchObject({ code: '40001' });
    expect((await heard.client.query('select from kept where n > 200')).rowCount).toBe(0);
    expect((await heard.client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
  });

  test.each([
    ['a statement', 'select pg_sleep(600)', []],
    ['one with values', 'select pg_sleep($1)', [600]],
  ])('%s that runs reads 40001', async (_, text, values) => {
    const heard = await startOpen();
    const failure = heard.client.query(text, values).then(
      () => undefined,
      (error: unknown) => error,
    );
    const sleeping = "select 1 from pg_stat_activity where wait_event = 'PgSleep'";
    await until('the statement', async () => (await on.login.server.query(sleeping)).length === 1);
    await on.crash();
    expect(await failure).toMatchObject({ code: '40001' });
    await goesOn(heard);
  });

  test('a transaction that has failed by itself stays so', async () => {
    const heard = await startOpen();
    await expect(heard.client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await on.crash();
    await goesOn(heard);
  });

  test('G24: a session with a lock that a rollback does not give back ends with its server', async () => {
    const heard = await startOpen();
    await heard.client.query('select pg_advisory_lock(7)');
    await on.crash();
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '08006' });
  });

  test('pg_terminate_backend is delivered', async () => {
    const heard = await startOpen();
    await on.login.run("select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'");
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator') });
  });
});
