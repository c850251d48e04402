// A real PostgreSQL server ends sessions without warning: it crashes and recovers, or an administrator ends one of
// them. The WAL positions are the test's; its clock can leap, so that a session has been idle for long.
import { kill } from 'node:process';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WalSample } from '../../../../src/core/coverage.ts';
import type { Standing } from '../../../../src/core/standing.ts';
import type { WalEvidence } from '../../../../src/core/wal-samples.ts';
import type { Clock } from '../../../../src/model/instant.ts';
import type { LeaveMode } from '../../../../src/model/policy.ts';
import { dialTcp } from '../../../../src/proxy/connect/dial.ts';
import type { Dial } from '../../../../src/proxy/server.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { SYNC } from '../../../support/sockets/messages.ts';
import { WireClient, aParse, aRun } from '../../../support/sockets/wire-client.ts';
import { aWritePool } from '../../../support/values/builders.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { systemClock } from '../../../support/waiting/system-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const RUN = { timeline: 1, startedAt: 'monday' };
const SILENT: Standing = { kind: 'keep', why: { code: 'no_answer' } };
const STOPPING: Standing = { kind: 'keep', why: { code: 'not_running', detail: 'state stopping' } };
const SUPERSEDED: Standing = { kind: 'leave', cause: 'demoted', why: { code: 'superseded' } };
const nothing = (): void => {};

interface Heard {
  readonly client: Client;
  readonly errors: { readonly code?: string; readonly message: string }[];
  readonly notices: unknown[];
}

function answersOf({ events }: ProxyLab): number {
  return events.filter((event) => event.kind === 'session_asked' && event.result === 'movable').length;
}

async function pidOf({ client }: Heard): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

describeUnless(missingForSandbox, 'a loss without warning, at a real PostgreSQL', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  let leapMs = 0;
  /** The positions that the primary has reported, newest first. */
  let samples: WalSample[] = [];
  /** Where the timeline ended for the next primary. `same`: it did not end. */
  let end: 'same' | 'unknown' | number = 'same';
  let isLost = false;
  /** Connects to the server are not answered. */
  let isSilent = false;
  /** A probe of the member is wanted. */
  let onFreshen = nothing;
  /** A decision may be due. */
  let onDecideIfDue = nothing;
  const clients: Client[] = [];
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + leapMs };

  beforeAll(async () => {
    login = await startLoginServer('embedded');
    await login.run('create role mover login', 'create table kept (n int)', 'grant all on kept to mover');
    await login.permit('host all mover 127.0.0.1/32 trust');
  }, 60_000);

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    lab.proxy.close();
  });

  afterAll(() => login.close());

  const dial: Dial = (address, limits, onResult) => {
    if (!isSilent) return dialTcp(address, limits, onResult);
    onResult({ kind: 'failed', outcome: 'timeout', isLocalFault: false, detail: 'no connection' });
    return nothing;
  };

  function reports(bytes: number): void {
    samples = [{ at: clock.now(), run: RUN, bytes }, ...samples];
  }

  function wal(): WalEvidence {
    if (end === 'same' || !isLost) return { samples: new Map([['node-1', samples]]), ends: undefined };
    const promoted = { at: clock.now(), run: { timeline: 2, startedAt: 'tuesday' }, bytes: 600 };
    const ends = new Map(end === 'unknown' ? [] : [[1, end]]);
    return {
      samples: new Map([['node-1', [promoted, ...samples]]]),
      ends: { timeline: 2, primary: 'node-1', ends },
    };
  }

  async function start(
    mode: 'planned' | 'always' = 'always',
    endsAt: 'same' | 'unknown' | number = 'same',
    demoted: LeaveMode = 'close',
    onStays: 'drain' | 'abort' = 'drain',
  ): Promise<void> {
    const { name, host, port } = login.server;
    const write = aWritePool();
    isLost = false;
    isSilent = false;
    onFreshen = nothing;
    onDecideIfDue = nothing;
    samples = [];
    reports(500);
    end = endsAt;
    lab = await startProxyLab({
      pools: [{ ...write, onLeave: { ...write.onLeave, demoted } }],
      moves: { mode, onStays },
      clock,
      wal,
      dial,
      onDecideIfDue: () => onDecideIfDue(),
      freshen: () => Promise.resolve(onFreshen()),
      table: { write: { open: { [name]: { host, port } } } },
    });
  }

  async function connect(): Promise<Heard> {
    const client = new Client({ ...lab.address('write'), user: 'mover', database: 'postgres' });
    const heard: Heard = { client, errors: [], notices: [] };
    client.on('error', (error) => heard.errors.push(error)).on('notice', (notice) => heard.notices.push(notice));
    clients.push(client);
    await client.connect();
    return heard;
  }

  const parked = () => until('the park', () => lab.events.some(({ kind }) => kind === 'session_parked'));

  /** A session has been asked, and was idle for long since. Then the primary reports its position. */
  async function idleForLong(bytes = 500, before = answersOf(lab)): Promise<void> {
    await until('the question', () => answersOf(lab) > before);
    leapMs += 60_000;
    reports(bytes);
  }

  async function startIdle(): Promise<{ readonly heard: Heard; readonly pid: number }> {
    await start();
    const heard = await connect();
    const pid = await pidOf(heard);
    await idleForLong();
    return { heard, pid };
  }

  /** Undefined: the server does not answer. */
  async function writerPid(): Promise<number | undefined> {
    const sql = "select pid from pg_stat_activity where backend_type = 'background writer'";
    const [row] = await login.server.query<{ pid: number }>(sql).catch(() => []);
    return row?.pid;
  }

  /** PostgreSQL ends all its sessions, recovers, and lets sessions in again. */
  async function crash(): Promise<void> {
    const killed = await until('the background writer', writerPid);
    isLost = true;
    kill(killed, 'SIGKILL');
    await until('the recovery', async () => {
      const pid = await writerPid();
      return pid !== undefined && pid !== killed;
    });
  }

  test('an idle session goes on with its state after each crash, and its client hears nothing', async () => {
    await start();
    const heard = await connect();
    await heard.client.query("set work_mem = '7MB'");
    const twice = { name: 'twice', text: 'select $1::int * 2 as n' };
    await heard.client.query({ ...twice, values: [1] });
    await idleForLong();
    const asked = answersOf(lab);
    await crash();
    // It says nothing between the two.
    await idleForLong(500, asked);
    await crash();
    expect((await heard.client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect((await heard.client.query({ ...twice, values: [4] })).rows).toEqual([{ n: 8 }]);
    expect([...heard.errors, ...heard.notices]).toEqual([]);
    const moves = lab.events.filter((event) => event.kind === 'session_moved' && event.cause === 'dead');
    expect(moves).toHaveLength(2);
  });

  describe('in a transaction, with `on_stays: abort`', () => {
    const TWICE = { name: 'twice', text: 'insert into kept select $1::int * 2' };

    /** Its state is known, and its transaction has a row. */
    async function startOpen(): Promise<Heard> {
      await start('always', 'same', 'close', 'abort');
      const heard = await connect();
      await heard.client.query("set work_mem = '7MB'");
      await heard.client.query({ ...TWICE, values: [0] });
      await idleForLong();
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
      await crash();
      await expect(heard.client.query(text, values)).rejects.toMatchObject({ code: '40001' });
      await goesOn(heard);
      expect(heard.notices).toEqual([]);
    });

    test('a COMMIT fails, and the transaction is over', async () => {
      const heard = await startOpen();
      await crash();
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
      await until('the statement', async () => (await login.server.query(sleeping)).length === 1);
      await crash();
      expect(await failure).toMatchObject({ code: '40001' });
      await goesOn(heard);
    });

    test('a transaction that has failed by itself stays so', async () => {
      const heard = await startOpen();
      await expect(heard.client.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
      await crash();
      await goesOn(heard);
    });

    test('G24: a session with a lock that a rollback does not give back ends with its server', async () => {
      const heard = await startOpen();
      await heard.client.query('select pg_advisory_lock(7)');
      await crash();
      await until('the end', () => heard.errors.length > 0);
      expect(heard.errors[0]).toMatchObject({ code: '08006' });
    });

    test('pg_terminate_backend is delivered', async () => {
      const heard = await startOpen();
      await login.run("select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'");
      await until('the end', () => heard.errors.length > 0);
      expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator') });
    });
  });

  test('a statement that arrives as its server is found dead is answered by the next one', async () => {
    const { heard, pid } = await startIdle();
    const { name, host, port } = login.server;
    const standing: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };
    onDecideIfDue = () => {
      onDecideIfDue = nothing;
      lab.decide({ write: { others: { [name]: { address: { host, port }, standing } } } });
    };
    const answer = pidOf(heard);
    await parked();
    lab.decide({ write: { open: { [name]: { host, port } } } });
    expect(await answer).not.toBe(pid);
    expect([...heard.errors, ...heard.notices]).toEqual([]);
  });

  test('G24: a session that was told of what is lost ends, and one that was idle since before goes on', async () => {
    await start('always', 500);
    const before = await connect();
    const pid = await pidOf(before);
    await idleForLong();
    const after = await connect();
    await after.client.query('insert into kept values (101)');
    await idleForLong(501);
    await crash();
    await until('the end', () => after.errors.length > 0);
    expect(after.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('(move_uncovered)') });
    expect(await pidOf(before)).not.toBe(pid);
    expect([...before.errors, ...before.notices]).toEqual([]);
  });

  test('a session waits until the history says where the timeline ended', async () => {
    await start('always', 'unknown');
    const heard = await connect();
    await pidOf(heard);
    await idleForLong();
    await crash();
    const answer = heard.client.query('select 5 as n');
    const why = 'the history of timelines does not say where timeline 1 ended';
    await until(
      'an attempt',
      async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.moves?.underway?.why === why,
    );
    expect(lab.events.some(({ kind }) => kind === 'session_moved')).toBe(false);
    end = 500;
    expect((await answer).rows).toEqual([{ n: 5 }]);
  });

  test('G24: a session that may have another unnamed statement than its client has sent last ends', async () => {
    await start();
    const client = await WireClient.connect(lab.address('write'), { user: 'mover', database: 'postgres' });
    await client.exchange(aParse('', 'select 1'), SYNC);
    await idleForLong();
    // The Bind has a value too many, so the server skips the Parse.
    await client.exchange(aRun('', ['1']), aParse('', 'select 2'), SYNC);
    leapMs += 60_000;
    reports(500);
    await crash();
    await until('the end', () => lab.closed().length > 0);
    expect(lab.closed()[0]).toMatchObject({ reason: 'backend_closed' });
  });

  test('G24: pg_terminate_backend is delivered', async () => {
    const { heard, pid } = await startIdle();
    await login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    await until('the event', () => lab.closed().length > 0);
    expect(lab.closed()[0]).toMatchObject({ reason: 'backend_closed' });
    expect(lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('G24: pg_terminate_backend is delivered while the API is silent', async () => {
    const { heard, pid } = await startIdle();
    const { name, ...address } = login.server;
    lab.decide({ write: { others: { [name]: { address, standing: SILENT } } } });
    await login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    expect(lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('a server that its API calls stopping has ended all sessions, although it is too slow to refuse', async () => {
    const { heard, pid } = await startIdle();
    isSilent = true;
    const { name, ...address } = login.server;
    lab.decide({ write: { others: { [name]: { address, standing: STOPPING } } } });
    await login.run(`select pg_terminate_backend(${pid})`);
    await parked();
    expect(heard.errors).toEqual([]);
  });

  test('G24: pg_terminate_backend is delivered while the server is too slow to let anybody in', async () => {
    const { heard, pid } = await startIdle();
    isSilent = true;
    await login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    expect(lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('a primary that was demoted has ended all sessions, although it lets new ones in', async () => {
    const { heard, pid } = await startIdle();
    const { name, ...address } = login.server;
    onFreshen = () => lab.decide({ write: { others: { [name]: { address, standing: DEMOTED } } } });
    await login.run(`select pg_terminate_backend(${pid})`);
    await parked();
    expect(heard.errors).toEqual([]);
  });

  test('an idle session goes on when another primary has superseded its own, which says nothing', async () => {
    await start('always', 500);
    const heard = await connect();
    await heard.client.query("set work_mem = '7MB'");
    await idleForLong();
    const { name, ...address } = login.server;
    lab.decide({ write: { others: { [name]: { address, standing: SUPERSEDED } } } });
    expect(lab.events.some(({ kind }) => kind === 'session_parked')).toBe(true);
    isLost = true;
    lab.decide({ write: { open: { [name]: address } } });
    expect((await heard.client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect(heard.errors).toEqual([]);
  });

  test('G24: a superseded primary is not asked: it may have confirmed what the next one lacks', async () => {
    await start('planned', 'same', 'move');
    const heard = await connect();
    await pidOf(heard);
    const { name, ...address } = login.server;
    lab.decide({ write: { others: { [name]: { address, standing: SUPERSEDED } } } });
    await until('the end', () => lab.closed().length > 0);
    expect(lab.closed()[0]).toMatchObject({ reason: 'evicted_demoted' });
    expect(lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_asked')).toBe(false);
  });

  test('a timeout of the server is delivered at once', async () => {
    await start();
    const heard = await connect();
    await heard.client.query('set idle_session_timeout = 3000');
    await idleForLong();
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P05' });
  });

  test('a statement in progress ends with an unknown outcome', async () => {
    const { heard } = await startIdle();
    const failure = heard.client.query('select pg_sleep(60)').catch((error: unknown) => error);
    await until('the statement', async () => {
      const rows = await login.server.query(
        "select 1 from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()",
      );
      return rows.length > 0;
    });
    await crash();
    const error = await failure;
    const codes = [error, ...heard.errors].map((one) => (one instanceof Error && 'code' in one ? one.code : undefined));
    expect(codes).toContain('08007');
    await until('the event', () => lab.closed().length > 0);
    expect(lab.closed()[0]).toMatchObject({ reason: 'move_in_flight' });
  });

  test('a session whose state is not known ends as without moves', async () => {
    const { heard } = await startIdle();
    await heard.client.query("set work_mem = '8MB'");
    await crash();
    await until('the end', () => heard.errors.length > 0);
    expect(lab.events.some(({ kind }) => kind === 'session_parked')).toBe(false);
  });

  test('in the mode planned no session is asked, and none moves', async () => {
    await start('planned');
    const heard = await connect();
    await pidOf(heard);
    leapMs += 60_000;
    await crash();
    await until('the end', () => heard.errors.length > 0);
    expect(lab.events.some(({ kind }) => kind === 'session_asked' || kind === 'session_parked')).toBe(false);
  });
});
