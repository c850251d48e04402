// A primary that hands over, with real PostgreSQL: the preflight counts who can move, idle sessions are parked, busy
// ones at the end of their transactions, and all go on when there is a route again. Sessions that cannot move end.
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { cancelRequestOf } from '../../../support/applications/cancel-key.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { aWritePool } from '../../../support/values/builders.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { aMessage, readyForQuery } from '../../../support/sockets/messages.ts';
import { aCancelOf, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { LeapingClock } from '../../../support/waiting/leaping-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const READY = readyForQuery('I');
const SYNC = aMessage('S');
const PATIENCE_MS = 20_000;
/** The limit of transactions. Only a leap of the clock gets there. */
const LIMIT_MS = 600_000;
/** A session that pauses for longer is idle. */
const PAUSE_MS = 1_000;
const LEAVING: Standing = {
  kind: 'leave',
  cause: 'switchover',
  why: { code: 'switchover_running', since: 0 },
  limitMs: LIMIT_MS,
};

describeUnless(missingForSandbox, 'a handover at a real PostgreSQL', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  let clock: LeapingClock;
  const clients: Client[] = [];

  beforeAll(async () => {
    login = await startLoginServer('embedded');
    await login.run('create table told (n int primary key)');
    for (const role of ['mover', 'stayer']) {
      await login.run(`create role ${role} login`, `grant all on told to ${role}`);
    }
    await login.permit('host all mover,stayer 127.0.0.1/32 trust');
  }, 60_000);

  beforeEach(async () => {
    clock = new LeapingClock();
    lab = await startProxyLab({ clock, moves: { roles: ['mover'] }, table: { write: open() } });
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    await lab.end();
    await login.run('truncate told');
  });

  afterAll(() => login.close());

  test('the preflight asks everybody, and says who stays and why', async () => {
    await Promise.all([connect(), connect(), connect()]);
    await (await connect()).query('listen news');
    await (await connect()).query('create temporary table kept (n int)');
    await connect('stayer');
    const busy = await connect();
    await busy.query('begin');
    const counted = lab.proxy.preflight('node-1');
    expect(await counted).toEqual({
      movable: 3,
      stays: { role_not_configured: 1, listening: 1, temporary_objects: 1 },
      unknown: 1,
    });
    const again = lab.proxy.preflight('node-1');
    await busy.query('commit');
    expect(await again).toMatchObject({ movable: 4, unknown: 0 });
    expect(await lab.proxy.preflight('node-2')).toEqual({ movable: 0, stays: {}, unknown: 0 });
    // The plan reports them once, for all workers together.
    expect(lab.events.filter(({ kind }) => kind === 'preflight_finished')).toEqual([]);
  });

  test('without the section moves there is no preflight, and a handover ends the sessions', async () => {
    await lab.end();
    lab = await startProxyLab({ table: { write: open() } });
    const client = await connect();
    expect(await lab.proxy.preflight('node-1')).toBeUndefined();
    const ended = new Promise<Error>((resolve) => client.once('error', resolve));
    lab.decide({ write: leaving() });
    expect((await ended).message).toContain('evicted_switchover');
  });

  test('idle sessions are parked at once, busy ones at the end of their transactions, and all go on', async () => {
    const idle = await connect();
    await idle.query("set work_mem = '7MB'");
    const busy = await connect();
    await busy.query('begin');
    await busy.query('insert into told values (1)');
    clock.leap(PAUSE_MS);
    lab.decide({ write: leaving() });
    await parked(1);
    await busy.query('commit');
    await parked(2);
    const waiting = Promise.all([idle.query('show work_mem'), busy.query('insert into told values (2)')]);
    lab.decide({ write: open() });
    const [{ rows }] = await waiting;
    expect(rows).toEqual([{ work_mem: '7MB' }]);
    expect((await busy.query('select n from told order by n')).rows).toEqual([{ n: 1 }, { n: 2 }]);
    expect(lab.reasons()).toEqual([]);
    expect(moved()).toBe(2);
  });

  test('the busy session is parked last, although it is the oldest, and misses nothing', async () => {
    const busy = await connect();
    const idle = await Promise.all(Array.from({ length: 20 }, () => connect()));
    const over = new AbortController();
    let count = 0;
    const work = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await busy.query('insert into told values ($1)', [count]);
        count += 1;
      }
    };
    const working = work();
    clock.leap(PAUSE_MS);
    const before = count;
    await until('two answers behind the pause', () => count > before + 1, PATIENCE_MS);
    lab.decide({ write: leaving() });
    await parked(21);
    const order = lab.events.flatMap((event) => (event.kind === 'session_parked' ? [event.session] : []));
    expect(order.at(-1)).toBe(Math.min(...order));
    lab.decide({ write: open() });
    await until('the moves', () => moved() === 21, PATIENCE_MS);
    over.abort();
    await working;
    expect((await idle[0]?.query('select count(*)::int as n from told'))?.rows).toEqual([{ n: count }]);
    expect(lab.reasons()).toEqual([]);
  });

  test('a busy session goes on while another one has a long transaction open', async () => {
    const [busy, long] = [await connect(), await connect()];
    await long.query('begin');
    lab.decide({ write: leaving() });
    for (let count = 0; count < 20; count += 1) await busy.query('insert into told values ($1)', [count]);
    expect(lab.events.some(({ kind }) => kind === 'session_parked')).toBe(false);
    await long.query('commit');
    await parked(2);
    lab.decide({ write: open() });
    expect((await busy.query('select count(*)::int as n from told')).rows).toEqual([{ n: 20 }]);
    expect(lab.reasons()).toEqual([]);
  });

  test('G24: a session that cannot move ends, and one in a transaction is cut when the time is over', async () => {
    const listener = await connect();
    await listener.query('listen news');
    const busy = await connect();
    await busy.query('begin');
    clock.leap(PAUSE_MS);
    lab.decide({ write: leaving() });
    await until('the end of the listener', () => lab.reasons().length === 1, PATIENCE_MS);
    clock.leap(LIMIT_MS);
    await until('the other end', () => lab.reasons().length === 2, PATIENCE_MS);
    expect(lab.reasons()).toEqual(['evicted_switchover', 'evicted_switchover_timeout']);
    const [listening] = lab.closed();
    expect(listening?.detail).toMatch(/^node-1: .*; the session could not move, because it listens \(news\)$/);
  });

  test('when a scheduled switchover is due, sessions that can move are parked, and the others stay', async () => {
    const [idle, listener, busy] = [await connect(), await connect(), await connect()];
    await listener.query('listen news');
    await busy.query('begin');
    const { name, host, port } = login.server;
    const due: Standing = { kind: 'keep', why: { code: 'switchover_due', since: 0 } };
    lab.decide({ write: { others: { [name]: { address: { host, port }, standing: due } } } });
    await parked(1);
    await until('the question', () => lab.events.some(({ kind }) => kind === 'session_stayed'), PATIENCE_MS);
    await busy.query('select');
    const answer = idle.query('select 7 as n');
    // It did not happen.
    lab.decide({ write: open() });
    expect((await answer).rows).toEqual([{ n: 7 }]);
    await busy.query('commit');
    expect([allParked(), moved(), lab.reasons()]).toEqual([1, 1, []]);
    await listener.query('select');
  });

  test('on_leave move: the sessions of a member that an operator drains go on when it is resumed', async () => {
    await lab.end();
    const onLeave = { ...aWritePool().onLeave, operator: 'move' as const };
    lab = await startProxyLab({
      moves: { roles: ['mover'] },
      pools: [aWritePool({ onLeave })],
      table: { write: open() },
    });
    const [idle, listener, busy] = [await connect(), await connect(), await connect()];
    await idle.query("set work_mem = '7MB'");
    await listener.query('listen news');
    await busy.query('begin');
    const { name, host, port } = login.server;
    const drained: Standing = { kind: 'leave', cause: 'operator', why: { code: 'drained', since: 0 } };
    lab.decide({ write: { others: { [name]: { address: { host, port }, standing: drained } } } });
    await parked(1);
    await until('the end of the listener', () => lab.reasons().length === 1, PATIENCE_MS);
    await busy.query('commit');
    await parked(2);
    const answer = idle.query('show work_mem');
    lab.decide({ write: open() });
    expect((await answer).rows).toEqual([{ work_mem: '7MB' }]);
    await busy.query('select');
    expect([lab.reasons(), moved()]).toEqual([['evicted_operator'], 2]);
  });

  test('a lock at the next server takes no turns: the others move meanwhile, its session behind it', async () => {
    await lab.end();
    lab = await startProxyLab({ clock, moves: { roles: ['mover'], concurrent: 1 }, table: { write: open() } });
    const [reader, other] = [await connect(), await connect()];
    await reader.query({ name: 'read', text: 'select count(*)::int as n from told' });
    lab.decide({ write: leaving() });
    await parked(2);
    const { host, port } = login.server;
    const locker = new Client({ host, port, user: 'mover', database: 'postgres' });
    clients.push(locker);
    await locker.connect();
    await locker.query('begin; lock table told');
    const answer = reader.query({ name: 'read', text: 'select count(*)::int as n from told' });
    await until('its wait', async () => (await waiting()) === 1, PATIENCE_MS);
    lab.decide({ write: open() });
    await other.query('select');
    const [first] = lab.events.filter((event) => event.kind === 'session_moved');
    // As long as a login may take.
    expect(first?.gapMs).toBeLessThan(10_000);
    await locker.query('commit');
    expect((await answer).rows).toEqual([{ n: 0 }]);
    expect([moved(), lab.reasons()]).toEqual([2, []]);
  });

  test('a cancelled statement of a parked session is not done, in either protocol', async () => {
    const client = await connect();
    await client.query("set work_mem = '7MB'");
    lab.decide({ write: leaving() });
    await parked(1);
    for (const values of [undefined, [2]]) {
      const text = `insert into told values (${values === undefined ? '1' : '$1'})`;
      const statement = client.query({ text, ...(values && { values }) });
      const refused = expect(statement).rejects.toMatchObject({ code: '57014' });
      await until('its wait', async () => (await waiting()) === 1, PATIENCE_MS);
      const canceller = await connectRaw(lab.address('write'));
      canceller.socket.write(cancelRequestOf(client));
      await refused;
      canceller.socket.destroy();
    }
    lab.decide({ write: open() });
    expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect((await client.query('select count(*)::int as n from told')).rows).toEqual([{ n: 0 }]);
    expect([moved(), lab.reasons().filter((reason) => reason !== 'cancel_forwarded')]).toEqual([1, []]);
  });

  test.each([
    ['another unnamed statement', [aMessage('P', Buffer.from('\0insert into told values (8)\0\0\0')), SYNC]],
    ['a statement of the simple protocol', [aMessage('Q', Buffer.from('insert into told values (8)\0'))]],
  ])('behind %s that was cancelled, nothing is bound to the unnamed statement of before', async (_, cancelled) => {
    const client = await connectRaw(lab.address('write'));
    client.socket.write(aStartup({ user: 'mover', database: 'postgres' }));
    await until('the login', () => client.received().subarray(-READY.length).equals(READY), PATIENCE_MS);
    const key = client.received().subarray(client.received().indexOf(Buffer.of(0x4b, 0, 0, 0, 12)) + 5);
    const request = aCancelOf(key.readInt32BE(0), Buffer.from(key.subarray(4, 8)));
    const prepared = client.received().length;
    client.socket.write(Buffer.concat([aMessage('P', Buffer.from('\0insert into told values (7)\0\0\0')), SYNC]));
    await until('the unnamed statement', () => client.received().length > prepared, PATIENCE_MS);
    clock.leap(PAUSE_MS);
    lab.decide({ write: leaving() });
    await parked(1);
    const greeted = client.received().length;
    const said = (): Buffer => client.received().subarray(greeted);
    // Sent ahead, as in a pipeline.
    client.socket.write(
      Buffer.concat([...cancelled, aMessage('B', Buffer.alloc(8)), aMessage('E', Buffer.alloc(5)), SYNC]),
    );
    await until('its wait', async () => (await waiting()) === 1, PATIENCE_MS);
    const canceller = await connectRaw(lab.address('write'));
    canceller.socket.write(request);
    await until('the answer to the cancel', () => said().subarray(-READY.length).equals(READY), PATIENCE_MS);
    const first = said().length;
    lab.decide({ write: open() });
    await until('the answer to the rest', () => said().length > first, PATIENCE_MS);
    expect([errorFields(said()), errorFields(said().subarray(first))]).toMatchObject([{ C: '57014' }, { C: '26000' }]);
    for (const { socket } of [client, canceller]) socket.destroy();
    expect((await (await connect()).query('select n from told')).rows).toEqual([]);
  });

  test('a read session stays: its next server may be behind what it has seen', async () => {
    lab.decide({ write: open(), read: open() });
    await connect('mover', 'read');
    expect(await lab.proxy.preflight('node-1')).toEqual({ movable: 0, stays: { unknown_position: 1 }, unknown: 0 });
    lab.decide({ write: leaving(), read: leaving() });
    await until('its end', () => lab.reasons().length === 1, PATIENCE_MS);
    expect([lab.reasons(), allParked()]).toEqual([['evicted_switchover'], 0]);
  });

  test('a client that leaves while it is parked is gone, and nobody logs in for it', async () => {
    const client = await connect();
    lab.decide({ write: leaving() });
    await parked(1);
    await client.end();
    await until('its end', () => lab.reasons().length === 1, PATIENCE_MS);
    lab.decide({ write: open() });
    expect(moved()).toBe(0);
    expect(lab.reasons()).toEqual(['client_closed']);
  });

  function open(): { open: Record<string, { host: string; port: number }> } {
    const { name, host, port } = login.server;
    return { open: { [name]: { host, port } } };
  }

  function leaving(): object {
    const { name, host, port } = login.server;
    return { others: { [name]: { address: { host, port }, standing: LEAVING } } };
  }

  async function connect(user = 'mover', pool = 'write'): Promise<Client> {
    const client = new Client({ ...lab.address(pool), user, database: 'postgres' });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    // A client that has just logged in is left some time for its first statement.
    await client.query('select');
    return client;
  }

  /** Parked sessions whose clients have sent something. */
  async function waiting(): Promise<number> {
    const { sessions } = await lab.proxy.sessions({ limit: 100 });
    return sessions.filter(({ moves }) => moves?.underway?.isWaiting === true).length;
  }

  async function parked(count: number): Promise<void> {
    await until(`${count} parked sessions`, () => allParked() === count, PATIENCE_MS);
  }

  function allParked(): number {
    return lab.events.filter(({ kind }) => kind === 'session_parked').length;
  }

  function moved(): number {
    return lab.events.filter(({ kind }) => kind === 'session_moved').length;
  }
});
