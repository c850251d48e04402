// A real PostgreSQL server ends sessions without warning: it crashes and recovers, or an administrator ends one of
// them.
import { expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { nothing } from '../../../../src/model/once.ts';
import { LossLab, pidOf } from '../../../support/labs/loss-lab.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { SYNC } from '../../../support/sockets/messages.ts';
import { WireClient, aParse, aRun } from '../../../support/sockets/wire-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

const SILENT: Standing = { kind: 'keep', why: { code: 'no_answer' } };
const STOPPING: Standing = { kind: 'keep', why: { code: 'not_running', detail: 'state stopping' } };
const SUPERSEDED: Standing = { kind: 'leave', cause: 'demoted', why: { code: 'superseded' } };

describeUnless(missingForSandbox, 'a loss without warning, at a real PostgreSQL', () => {
  const on = LossLab.forTests();

  test('an idle session goes on with its state after each crash, and its client hears nothing', async () => {
    await on.start();
    const heard = await on.connect();
    await heard.client.query("set work_mem = '7MB'");
    const twice = { name: 'twice', text: 'select $1::int * 2 as n' };
    await heard.client.query({ ...twice, values: [1] });
    await on.idleForLong();
    const asked = on.answers();
    await on.crash();
    // It says nothing between the two.
    await on.idleForLong(500, asked);
    await on.crash();
    expect((await heard.client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect((await heard.client.query({ ...twice, values: [4] })).rows).toEqual([{ n: 8 }]);
    expect([...heard.errors, ...heard.notices]).toEqual([]);
    const moves = on.lab.events.filter((event) => event.kind === 'session_moved' && event.cause === 'dead');
    expect(moves).toHaveLength(2);
  });

  test('a statement that arrives as its server is found dead is answered by the next one', async () => {
    const { heard, pid } = await on.startIdle();
    const { name, host, port } = on.login.server;
    const standing: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };
    on.onDecideIfDue = () => {
      on.onDecideIfDue = nothing;
      on.lab.decide({ write: { others: { [name]: { address: { host, port }, standing } } } });
    };
    const answer = pidOf(heard);
    await on.parked();
    on.lab.decide({ write: { open: { [name]: { host, port } } } });
    expect(await answer).not.toBe(pid);
    expect([...heard.errors, ...heard.notices]).toEqual([]);
  });

  test('G24: a session that was told of what is lost ends, and one that was idle since before goes on', async () => {
    await on.start({ end: 500 });
    const before = await on.connect();
    const pid = await pidOf(before);
    await on.idleForLong();
    const after = await on.connect();
    await after.client.query('insert into kept values (101)');
    await on.idleForLong(501);
    await on.crash();
    await until('the end', () => after.errors.length > 0);
    expect(after.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('(move_uncovered)') });
    expect(await pidOf(before)).not.toBe(pid);
    expect([...before.errors, ...before.notices]).toEqual([]);
  });

  test('a session waits until the history says where the timeline ended', async () => {
    await on.start({ end: 'unknown' });
    const heard = await on.connect();
    await pidOf(heard);
    await on.idleForLong();
    await on.crash();
    const answer = heard.client.query('select 5 as n');
    const why = 'the history of timelines does not say where timeline 1 ended';
    await until(
      'an attempt',
      async () => (await on.lab.proxy.sessions({ limit: 1 })).sessions[0]?.moves?.underway?.why === why,
    );
    expect(on.lab.events.some(({ kind }) => kind === 'session_moved')).toBe(false);
    on.end = 500;
    expect((await answer).rows).toEqual([{ n: 5 }]);
  });

  test('G24: a session that may have another unnamed statement than its client has sent last ends', async () => {
    await on.start();
    const client = await WireClient.connect(on.lab.address('write'), { user: 'mover', database: 'postgres' });
    await client.exchange(aParse('', 'select 1'), SYNC);
    await on.idleForLong();
    // The Bind has a value too many, so the server skips the Parse.
    await client.exchange(aRun('', ['1']), aParse('', 'select 2'), SYNC);
    on.leap();
    on.reports(500);
    await on.crash();
    await until('the end', () => on.lab.closed().length > 0);
    expect(on.lab.closed()[0]).toMatchObject({ reason: 'backend_closed' });
  });

  test('G24: pg_terminate_backend is delivered', async () => {
    const { heard, pid } = await on.startIdle();
    await on.login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    await until('the event', () => on.lab.closed().length > 0);
    expect(on.lab.closed()[0]).toMatchObject({ reason: 'backend_closed' });
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('G24: pg_terminate_backend is delivered while the API is silent', async () => {
    const { heard, pid } = await on.startIdle();
    const { name, ...address } = on.login.server;
    on.lab.decide({ write: { others: { [name]: { address, standing: SILENT } } } });
    await on.login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('G24: pg_terminate_backend is delivered while the API is silent and another primary takes over', async () => {
    const { heard, pid } = await on.startIdle();
    const { name, ...address } = on.login.server;
    on.onFreshen = () => on.lab.decide({ write: { others: { [name]: { address, standing: SUPERSEDED } } } });
    await on.login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('a server that its API calls stopping has ended all sessions, although it is too slow to refuse', async () => {
    const { heard, pid } = await on.startIdle();
    on.isSilent = true;
    const { name, ...address } = on.login.server;
    on.lab.decide({ write: { others: { [name]: { address, standing: STOPPING } } } });
    await on.login.run(`select pg_terminate_backend(${pid})`);
    await on.parked();
    expect(heard.errors).toEqual([]);
  });

  test('G24: pg_terminate_backend is delivered while the server is too slow to let anybody in', async () => {
    const { heard, pid } = await on.startIdle();
    on.isSilent = true;
    await on.login.run(`select pg_terminate_backend(${pid})`);
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') });
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_moved')).toBe(false);
  });

  test('a primary that was demoted has ended all sessions, although it lets new ones in', async () => {
    const { heard, pid } = await on.startIdle();
    const { name, ...address } = on.login.server;
    on.onFreshen = () => on.lab.decide({ write: { others: { [name]: { address, standing: DEMOTED } } } });
    await on.login.run(`select pg_terminate_backend(${pid})`);
    await on.parked();
    expect(heard.errors).toEqual([]);
  });

  test('an idle session goes on when another primary has superseded its own, which says nothing', async () => {
    await on.start({ end: 500 });
    const heard = await on.connect();
    await heard.client.query("set work_mem = '7MB'");
    await on.idleForLong();
    const { name, ...address } = on.login.server;
    on.lab.decide({ write: { others: { [name]: { address, standing: SUPERSEDED } } } });
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked')).toBe(true);
    on.loses();
    on.lab.decide({ write: { open: { [name]: address } } });
    expect((await heard.client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    expect(heard.errors).toEqual([]);
  });

  test('G24: a superseded primary is not asked: it may have confirmed what the next one lacks', async () => {
    await on.start({ mode: 'planned', demoted: 'move' });
    const heard = await on.connect();
    await pidOf(heard);
    const { name, ...address } = on.login.server;
    on.lab.decide({ write: { others: { [name]: { address, standing: SUPERSEDED } } } });
    await until('the end', () => on.lab.closed().length > 0);
    expect(on.lab.closed()[0]).toMatchObject({ reason: 'evicted_demoted' });
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked' || kind === 'session_asked')).toBe(false);
  });

  test('a timeout of the server is delivered at once', async () => {
    await on.start();
    const heard = await on.connect();
    await heard.client.query('set idle_session_timeout = 3000');
    await on.idleForLong();
    await until('the end', () => heard.errors.length > 0);
    expect(heard.errors[0]).toMatchObject({ code: '57P05' });
  });

  test('a statement in progress ends with an unknown outcome', async () => {
    const { heard } = await on.startIdle();
    const failure = heard.client.query('select pg_sleep(60)').catch((error: unknown) => error);
    await until('the statement', async () => {
      const rows = await on.login.server.query(
        "select 1 from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()",
      );
      return rows.length > 0;
    });
    await on.crash();
    const error = await failure;
    const codes = [error, ...heard.errors].map((one) => (one instanceof Error && 'code' in one ? one.code : undefined));
    expect(codes).toContain('08007');
    await until('the event', () => on.lab.closed().length > 0);
    expect(on.lab.closed()[0]).toMatchObject({ reason: 'move_in_flight' });
  });

  test('a session whose state is not known ends as without moves', async () => {
    const { heard } = await on.startIdle();
    await heard.client.query("set work_mem = '8MB'");
    await on.crash();
    await until('the end', () => heard.errors.length > 0);
    expect(on.lab.events.some(({ kind }) => kind === 'session_parked')).toBe(false);
  });

  test('in the mode planned no session is asked, and none moves', async () => {
    await on.start({ mode: 'planned' });
    const heard = await on.connect();
    await pidOf(heard);
    on.leap();
    await on.crash();
    await until('the end', () => heard.errors.length > 0);
    expect(on.lab.events.some(({ kind }) => kind === 'session_asked' || kind === 'session_parked')).toBe(false);
  });
});
