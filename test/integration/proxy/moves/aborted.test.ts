// `on_stays: abort` at a real PostgreSQL: a transaction that is open when the time of a handover is over is rolled
// back, its client reads 40001 where it expects an answer, and its session goes on.
import { Client, DatabaseError } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { aMessage } from '../../../support/sockets/messages.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { LeapingClock } from '../../../support/waiting/leaping-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const PATIENCE_MS = 20_000;
const LIMIT_MS = 600_000;
const LEAVING: Standing = {
  kind: 'leave',
  cause: 'switchover',
  why: { code: 'switchover_running', since: 0 },
  limitMs: LIMIT_MS,
};
const SYNC = aMessage('S');
const parse = (text: string): Buffer => aMessage('P', Buffer.from(`\0${text}\0\0\0`));
const RUN = Buffer.concat([aMessage('B', Buffer.alloc(8)), aMessage('E', Buffer.alloc(5))]);

describeUnless(missingForSandbox, 'transactions that a handover ends', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  let clock: LeapingClock;
  const clients: Client[] = [];

  beforeAll(async () => {
    login = await startLoginServer('embedded');
    await login.run('create table told (n int)', 'create role mover login', 'grant all on told to mover');
    await login.permit('host all mover 127.0.0.1/32 trust');
  }, 60_000);

  beforeEach(async () => {
    clock = new LeapingClock();
    lab = await startProxyLab({ clock, moves: { roles: ['mover'], onStays: 'abort' }, table: { write: open() } });
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    await lab.end();
    await login.run('truncate told');
  });

  afterAll(() => login.close());

  test('G24: each client reads 40001 once, and its session goes on with its state', async () => {
    const [statement, commit, prepared, rollback, failed] = [
      await connect(),
      await connect(),
      await connect(),
      await connect(),
      await connect(),
    ];
    const all = [statement, commit, prepared, rollback, failed];
    const ending = { name: 'ending', text: 'commit' };
    await prepared.query('begin');
    await prepared.query(ending);
    for (const client of all) {
      await client.query("set work_mem = '7MB'");
      await client.query('begin');
      await client.query('insert into told values (1)');
      await client.query("set local application_name = 'gone'");
    }
    await expect(failed.query('select 1/0')).rejects.toMatchObject({ code: '22012' });
    await handOver(all.length);
    // Before the next server is there.
    expect(await codeOf(statement.query('insert into told values (2)'))).toBe('40001');
    expect(await codeOf(commit.query('/* the end */ commit'))).toBe('40001');
    expect(await codeOf(prepared.query(ending))).toBe('40001');
    const rolledBack = rollback.query('rollback');
    const still = codeOf(failed.query('select 1'));
    lab.decide({ write: open() });
    expect((await rolledBack).command).toBe('ROLLBACK');
    expect(await still).toBe('25P02');
    expect(await codeOf(statement.query('insert into told values (3)'))).toBe('25P02');
    for (const client of [statement, failed]) expect((await client.query('commit')).command).toBe('ROLLBACK');
    for (const client of all) {
      expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
      await client.query('begin');
      await client.query('insert into told values (4)');
      expect((await client.query('commit')).command).toBe('COMMIT');
    }
    const { rows } = await statement.query('select n, count(*)::int from told group by n');
    expect(rows).toEqual([{ n: 4, count: all.length }]);
    expect([moved(), lab.reasons()]).toEqual([all.length, []]);
    const aborted = lab.events.filter((event) => event.kind === 'session_parked' && event.hasAborted);
    expect(aborted).toHaveLength(all.length - 1);
  });

  test('the bytes: an error ends the messages up to their Sync, and nothing is answered twice', async () => {
    const client = await connectRaw(lab.address('write'));
    client.socket.write(aStartup({ user: 'mover', database: 'postgres' }));
    const ready = (count: number) => async (): Promise<boolean> => readies(client.received()).length === count;
    await until('the login', ready(1), PATIENCE_MS);
    client.socket.write(Buffer.concat([parse('begin'), RUN, parse('insert into told values (1)'), RUN, SYNC]));
    await until('its transaction', ready(2), PATIENCE_MS);
    await handOver(1);
    const before = client.received().length;
    // A lone Sync is answered as in a transaction.
    client.socket.write(Buffer.concat([SYNC, parse('insert into told values (2)'), RUN, parse('commit'), RUN, SYNC]));
    await until('the error', ready(4), PATIENCE_MS);
    const told = client.received().subarray(before);
    expect(errorFields(told.subarray(6))).toMatchObject({ S: 'ERROR', C: '40001', H: 'Run the transaction again.' });
    expect(readies(client.received()).slice(2)).toEqual(['T', 'E']);
    client.socket.write(Buffer.concat([parse('select 1'), RUN, SYNC]));
    lab.decide({ write: open() });
    await until('the next answer', ready(5), PATIENCE_MS);
    expect(errorFields(client.received().subarray(before + told.length))).toMatchObject({ C: '25P02' });
    client.socket.write(Buffer.concat([parse('rollback'), RUN, SYNC]));
    await until('the end', ready(6), PATIENCE_MS);
    expect(readies(client.received()).slice(4)).toEqual(['E', 'I']);
    client.socket.destroy();
  });

  test('G24: a statement that goes on is cancelled, and reads 40001, in a transaction and outside of one', async () => {
    const [long, prepared, autocommit] = [await connect(), await connect(), await connect()];
    const all = [long, prepared, autocommit];
    for (const client of all) await client.query("set work_mem = '7MB'");
    for (const client of [long, prepared]) await client.query('begin');
    await long.query('insert into told values (1)');
    const running = [
      codeOf(long.query('select pg_sleep(30)')),
      codeOf(prepared.query({ name: 'slow', text: 'insert into told select $1 from pg_sleep(30)', values: [2] })),
      codeOf(autocommit.query('insert into told select 3 from pg_sleep(30)')),
    ];
    await until('all', async () => (await active('%pg_sleep(30)')) === all.length, PATIENCE_MS);
    await handOver(all.length);
    expect(await Promise.all(running)).toEqual(all.map(() => '40001'));
    lab.decide({ write: open() });
    for (const client of [long, prepared]) {
      expect(await codeOf(client.query('insert into told values (4)'))).toBe('25P02');
      expect((await client.query('rollback')).command).toBe('ROLLBACK');
    }
    for (const client of all) expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect((await autocommit.query('select from told')).rowCount).toBe(0);
    expect([moved(), lab.reasons()]).toEqual([all.length, []]);
    expect(lab.events.filter((event) => event.kind === 'session_parked' && event.hasAborted)).toHaveLength(all.length);
  });

  test('a commit that waits for its standby is cancelled, and its client is told no success', async () => {
    const client = await connect();
    await client.query('begin');
    await client.query('insert into told values (5)');
    await login.server.query("alter system set synchronous_standby_names = 'nobody'");
    try {
      await login.server.query('select pg_reload_conf()');
      await commitsWait();
      const committed = codeOf(client.query('commit'));
      await until('its wait', async () => (await active('commit')) === 1, PATIENCE_MS);
      lab.decide({ write: leaving() });
      clock.leap(LIMIT_MS);
      await until('its end', () => lab.reasons().length === 1, PATIENCE_MS);
      expect([undefined, '40001']).not.toContain(await committed);
      expect([lab.reasons(), parked()]).toEqual([['evicted_switchover_timeout'], 0]);
    } finally {
      await login.server.query('alter system reset synchronous_standby_names');
      await login.server.query('select pg_reload_conf()');
    }
  });

  test('state that stays, and a COPY, end the session, and nothing of it is done', async () => {
    const locker = await connect();
    await locker.query('begin');
    await locker.query('select pg_advisory_lock(1)');
    const copier = await connectRaw(lab.address('write'));
    copier.socket.write(aStartup({ user: 'mover', database: 'postgres' }));
    await until('the login', () => readies(copier.received()).length === 1, PATIENCE_MS);
    copier.socket.write(aMessage('Q', Buffer.from('copy told from stdin\0')));
    await until('the COPY', async () => (await active('copy told%')) === 1, PATIENCE_MS);
    copier.socket.write(aMessage('d', Buffer.from('6\n')));
    lab.decide({ write: leaving() });
    clock.leap(LIMIT_MS);
    // Its client knows nothing of the rollback: no statement behind it may run outside of the transaction.
    const working = workUntilEnd(locker);
    await until('the ends', () => lab.reasons().length === 2, PATIENCE_MS);
    expect(await working).not.toBe('40001');
    expect(readies(copier.received())).toHaveLength(1);
    expect([parked(), new Set(lab.reasons())]).toEqual([0, new Set(['evicted_switchover_timeout'])]);
    lab.decide({ write: open() });
    const other = await connect();
    expect((await other.query('select count(*)::int as n from told')).rows).toEqual([{ n: 0 }]);
  });

  test('G24: shortly before a scheduled switchover the same, and idle sessions that cannot move stay', async () => {
    const [waiting, long, listener, locker] = [await connect(), await connect(), await connect(), await connect()];
    await listener.query('listen news');
    for (const client of [waiting, long, locker]) await client.query('begin');
    await waiting.query('insert into told values (1)');
    await locker.query('select pg_advisory_lock(2)');
    const running = codeOf(long.query('insert into told select 2 from pg_sleep(30)'));
    await until('it', async () => (await active('%pg_sleep(30)')) === 1, PATIENCE_MS);
    const { name, host, port } = login.server;
    const standing: Standing = { kind: 'keep', why: { code: 'switchover_due', since: clock.now() + 60_000 } };
    lab.decide({ write: { others: { [name]: { address: { host, port }, standing } } } });
    // The clock also goes on by itself.
    clock.leap(49_400);
    expect(await codeOf(waiting.query('insert into told values (3)'))).toBeUndefined();
    expect(parked()).toBe(0);
    clock.leap(10_000);
    await until('both are parked', () => parked() === 2, PATIENCE_MS);
    expect(await running).toBe('40001');
    expect(await codeOf(waiting.query('commit'))).toBe('40001');
    await until('the end of what cannot move', () => lab.reasons().length === 1, PATIENCE_MS);
    await listener.query('select');
    lab.decide({ write: open() });
    expect((await long.query('rollback')).command).toBe('ROLLBACK');
    expect((await waiting.query('select count(*)::int as n from told')).rows).toEqual([{ n: 0 }]);
    expect([moved(), lab.reasons()]).toEqual([2, ['evicted_switchover_timeout']]);
  });

  test('without the setting the session is cut as before', async () => {
    await lab.end();
    lab = await startProxyLab({ clock, moves: { roles: ['mover'] }, table: { write: open() } });
    const client = await connect();
    await client.query('begin');
    lab.decide({ write: leaving() });
    clock.leap(LIMIT_MS);
    await until('its end', () => lab.reasons().length === 1, PATIENCE_MS);
    expect([lab.reasons(), parked()]).toEqual([['evicted_switchover_timeout'], 0]);
  });

  /** The time for transactions is over. */
  async function handOver(sessions: number): Promise<void> {
    lab.decide({ write: leaving() });
    clock.leap(LIMIT_MS);
    await until(`${sessions} parked sessions`, () => parked() === sessions, PATIENCE_MS);
  }

  function open(): { open: Record<string, { host: string; port: number }> } {
    const { name, host, port } = login.server;
    return { open: { [name]: { host, port } } };
  }

  function leaving(): object {
    const { name, host, port } = login.server;
    return { others: { [name]: { address: { host, port }, standing: LEAVING } } };
  }

  /** The statements that run now, of this text. */
  async function active(like: string): Promise<number> {
    const text = `select 1 from pg_stat_activity where query like '${like}' and state = 'active' and usename = 'mover'`;
    return (await login.server.query(text)).length;
  }

  /** Commits wait once the checkpointer has read the setting; what a session shows is its own reading. */
  async function commitsWait(): Promise<void> {
    const direct = await connect(login.server);
    let probing: Promise<unknown> | undefined;
    const isWaiting = async (): Promise<boolean> => {
      probing ??= codeOf(direct.query('insert into told values (6)')).then(() => (probing = undefined));
      return (await login.server.query("select from pg_stat_activity where wait_event = 'SyncRep'")).length === 1;
    };
    await until('a commit that waits', isWaiting, PATIENCE_MS);
  }

  async function connect({ host, port } = lab.address('write')): Promise<Client> {
    const client = new Client({ host, port, user: 'mover', database: 'postgres' });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    await client.query('select');
    return client;
  }

  function parked(): number {
    return lab.events.filter(({ kind }) => kind === 'session_parked').length;
  }

  function moved(): number {
    return lab.events.filter(({ kind }) => kind === 'session_moved').length;
  }
});

/** Returns the error that ends it. */
async function workUntilEnd(client: Client): Promise<string | undefined> {
  for (;;) {
    const code = await codeOf(client.query('insert into told values (9)'));
    if (code !== undefined) return code;
  }
}

/** The SQLSTATE with which a statement fails. */
async function codeOf(statement: Promise<unknown>): Promise<string | undefined> {
  try {
    await statement;
    return undefined;
  } catch (error) {
    return error instanceof DatabaseError ? error.code : String(error);
  }
}

/** The states of all ReadyForQuery. */
function readies(bytes: Buffer): readonly string[] {
  const states: string[] = [];
  for (let at = 0; at + 6 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    if (bytes[at] === 0x5a) states.push(String.fromCharCode(bytes[at + 5] ?? 0));
  }
  return states;
}
