// Moves seen from the wire: where a stream may be cut, what the next server gets, and that the client reads its own
// answers and nothing else.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { BOTH_LEGS, describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import type { SandboxClusterOptions } from '../../support/clusters/sandbox-cluster.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { prependHostAccess } from '../../support/moves/host-access.ts';
import { findSession, listSessions, move, type MoveAnswer, moveSession } from '../../support/moves/move.ts';
import { type MovingLab, movingLab } from '../../support/moves/moving-lab.ts';
import { whyNoSystemPostgres } from '../../support/moves/system-postgres.ts';
import { bind, parse, query, rowsOf, typesOf, WireSession } from '../../support/moves/wire-session.ts';
import { COPY_DONE, EXECUTE, FLUSH, SYNC, aMessage } from '../../support/sockets/messages.ts';
import { errorFields } from '../../support/sockets/packets.ts';
import { until } from '../../support/waiting/until.ts';

const BACKEND = 'select pg_backend_pid()';
const MOVED = { result: 'moved', reason: null };

describeWire('18', 'embedded');
describeUnless(await whyNoSystemPostgres(), 'with the PostgreSQL of the system', () =>
  describeWire('of the system', 'system'),
);

function describeWire(version: string, postgres: NonNullable<SandboxClusterOptions['postgres']>): void {
  describeOnSandbox({ name: `moves on the wire, PostgreSQL ${version}`, legs: BOTH_LEGS }, (on) =>
    wireTests(movingLab(on, { cluster: { postgres }, moves: { wait: '30s' } })),
  );
}

function wireTests(lab: MovingLab): void {
  const sessions: WireSession[] = [];
  beforeAll(async () => {
    const { name } = await lab.cluster.leader();
    await lab.cluster.sql(name, 'create role svc_trust login; grant all on numbers to svc_trust');
    await lab.cluster.sql(name, 'create role svc_leaver login');
    await prependHostAccess(lab.cluster, [
      'host all svc_trust 127.0.0.1/32 trust',
      'host all svc_leaver 127.0.0.1/32 trust',
    ]);
  });
  afterEach(() => {
    for (const session of sessions.splice(0)) session.close();
  });

  async function open(
    name: string,
    user = 'svc_trust',
    more: Readonly<Record<string, string>> = {},
  ): Promise<WireSession> {
    const to = { port: await lab.moving.port('write'), ssl: lab.cluster.app.ssl };
    const parameters = { user, database: lab.cluster.app.database, application_name: name, ...more };
    const session = await WireSession.open(to, parameters);
    sessions.push(session);
    return session;
  }

  /** The request has been taken when this returns. */
  async function begin(name: string): Promise<{ readonly done: Promise<MoveAnswer> }> {
    const { id } = await findSession(lab.moving, name);
    const done = moveSession(lab.moving, id);
    done.catch(() => undefined);
    await listSessions(lab.moving);
    return { done };
  }

  it('the header of a query before the move, and the rest after it', async () => {
    const session = await open('half');
    const backend = await valueOf(session, BACKEND);
    const whole = query(BACKEND);
    session.send(whole.subarray(0, 3));
    const moved = await begin('half');
    session.send(whole.subarray(3));
    expect(typesOf(await session.answers(1))).toBe('TDCZ');
    expect(await moved.done).toMatchObject(MOVED);
    expect(await valueOf(session, BACKEND)).not.toBe(backend);
    expect(session.unasked).toEqual([]);
  });

  it('extended messages with Flush: the move waits for Sync', async () => {
    const session = await open('flushed');
    const backend = await valueOf(session, BACKEND);
    session.send(parse('', BACKEND), bind(''), EXECUTE, FLUSH);
    const moved = await begin('flushed');
    expect(await findSession(lab.moving, 'flushed')).toMatchObject({ state: 'relaying' });
    session.send(SYNC);
    const answer = await session.answers(1);
    expect(typesOf(answer)).toBe('12DCZ');
    expect(rowsOf(answer)).toEqual([backend]);
    expect(await moved.done).toMatchObject(MOVED);
    expect(await valueOf(session, BACKEND)).not.toBe(backend);
  });

  it('an unnamed statement, parsed before the move and bound after it', async () => {
    const session = await open('unnamed');
    session.send(parse('', 'select $1::int + 1'), SYNC);
    expect(typesOf(await session.answers(1))).toBe('1Z');
    expect(await move(lab.moving, 'unnamed')).toMatchObject(MOVED);
    session.send(bind('', '41'), EXECUTE, SYNC);
    const answer = await session.answers(1);
    expect(typesOf(answer)).toBe('2DCZ');
    expect(rowsOf(answer)).toEqual(['42']);
  });

  it('G24: an unnamed statement that a query has taken away is not there after the move either', async () => {
    const session = await open('taken');
    session.send(parse('', 'select 1'), SYNC);
    await session.answers(1);
    await valueOf(session, BACKEND);
    expect(await move(lab.moving, 'taken')).toMatchObject(MOVED);
    session.send(bind(''), EXECUTE, SYNC);
    expect(typesOf(await session.answers(1))).toBe('EZ');
  });

  it('an unnamed statement that is too long to keep: the session stays', async () => {
    const session = await open('long');
    session.send(parse('', `select /* ${'long '.repeat(5000)} */ 5001`), SYNC);
    await session.answers(1);
    expect(await move(lab.moving, 'long')).toMatchObject({ result: 'stayed', reason: 'unnamed_statement' });
    session.send(bind(''), EXECUTE, SYNC);
    const answer = await session.answers(1);
    expect(typesOf(answer)).toBe('2DCZ');
    expect(rowsOf(answer)).toEqual(['5001']);
  });

  it.each([
    ['client_encoding', 'LATIN2', `select ascii('\u00e3')`, '227'],
    ['standard_conforming_strings', 'off', String.raw`select 'a\\b'`, String.raw`a\\b`],
    ['DateStyle', 'DMY', `select '1/2/2026'::date - '2026-01-01'::date`, '1'],
  ])('G24: an unnamed statement that would be read in another way under the new %s', async (name, value, text, has) => {
    const session = await open(`unsure-${name}`, 'svc_trust', { client_encoding: 'LATIN1', DateStyle: 'ISO, MDY' });
    session.send(parse('changes', `set ${name} = '${value}'`), SYNC, parse('', Buffer.from(text, 'latin1')), SYNC);
    session.send(bind('changes'), EXECUTE, SYNC);
    await session.answers(3);
    const stays = { result: 'stayed', reason: 'unclear_statement', detail: 'the unnamed statement' };
    expect(await move(lab.moving, `unsure-${name}`)).toMatchObject(stays);
    session.send(bind(''), EXECUTE, SYNC);
    expect(rowsOf(await session.answers(1))).toEqual([has]);
    session.send(parse('', 'select 1'), SYNC);
    await session.answers(1);
    expect(await move(lab.moving, `unsure-${name}`)).toMatchObject(MOVED);
  });

  it('named statements and their types', async () => {
    const session = await open('named');
    session.send(parse('with types', 'select $1 || $2::text'), parse('', 'select 1'), SYNC);
    await session.answers(1);
    expect(await move(lab.moving, 'named')).toMatchObject(MOVED);
    session.send(bind('with types', 'a', 'b'), EXECUTE, bind(''), EXECUTE, SYNC);
    expect(rowsOf(await session.answers(1))).toEqual(['ab', '1']);
  });

  it('G24: a setting of a library is there after two moves, though no statement has its name', async () => {
    const session = await open('library');
    const load = 'do $$ begin end $$';
    await valueOf(session, load, 'CZ');
    await valueOf(session, `update pg_settings set setting = 'off' where name like 'plpgsql.check_%'`);
    for (let round = 0; round < 2; round += 1) expect(await move(lab.moving, 'library')).toMatchObject(MOVED);
    await valueOf(session, load, 'CZ');
    expect(await valueOf(session, 'show plpgsql.check_asserts')).toBe('off');
  });

  it('DEBUG messages about the move never reach a client that wants them', async () => {
    const session = await open('debugged');
    session.send(query(`set client_min_messages = 'debug5'`));
    await session.answers(1);
    expect(await move(lab.moving, 'debugged')).toMatchObject(MOVED);
    session.send(query('show client_min_messages'));
    expect(rowsOf(await session.answers(1))).toEqual(['debug5']);
    expect(await move(lab.moving, 'debugged')).toMatchObject(MOVED);
    // Every byte of the move is there by now, because the state is shown anew.
    await findSession(lab.moving, 'debugged');
    expect(session.unasked).toEqual([]);
  });

  it('a prepared FETCH whose cursor is gone: the session stays, and the server lives', async () => {
    const session = await open('fetching');
    session.send(query('begin; declare c cursor for select 1'));
    await session.answers(1);
    session.send(parse('plain', 'fetch c'), parse('commented', '/* of a driver */ FETCH c'), SYNC);
    expect(typesOf(await session.answers(1))).toBe('11Z');
    session.send(query('commit'));
    await session.answers(1);
    const backend = await valueOf(session, BACKEND);
    for (const name of ['plain', 'commented']) {
      expect(await move(lab.moving, 'fetching')).toMatchObject({ result: 'stayed', reason: 'unclear_statement' });
      session.send(aMessage('C', Buffer.from(`S${name}\0`)), SYNC);
      await session.answers(1);
    }
    expect(await valueOf(session, BACKEND)).toBe(backend);
    expect(await move(lab.moving, 'fetching')).toMatchObject(MOVED);
  });

  it('a burst of statements is cut between two of them: each is answered once, in its order', async () => {
    const session = await open('burst');
    const numbers = Array.from({ length: 2000 }, (_, n) => String(n));
    const { id } = await findSession(lab.moving, 'burst');
    session.send(...numbers.map((n) => query(`select ${n}, pg_backend_pid()`)));
    const moves = [];
    for (let round = 0; round < 3; round += 1) moves.push(await moveSession(lab.moving, id));
    const answers = await session.answers(numbers.length);
    expect(rowsOf(answers)).toEqual(numbers);
    expect(typesOf(answers)).toBe('TDCZ'.repeat(numbers.length));
    for (const moved of moves) expect(moved).toMatchObject(MOVED);
    expect(session.unasked).toEqual([]);
  });

  it('a session that cannot go on reads one FATAL error with the reason, and then the end', async () => {
    const session = await open('leaving', 'svc_leaver');
    const { name } = await lab.cluster.leader();
    await lab.cluster.sql(name, 'alter role svc_leaver nologin');
    expect(await move(lab.moving, 'leaving')).toMatchObject({ result: 'failed', reason: 'move_login' });
    await until('the end', () => session.isEnded);
    const [error, ...more] = session.unasked;
    const fields = error && errorFields(aMessage(error.type, error.body));
    expect(fields).toMatchObject({ S: 'FATAL', V: 'FATAL', C: '57P01', M: expect.stringContaining('(move_login)') });
    expect(fields?.['D']).toContain('role "svc_leaver" is not permitted to log in');
    expect(fields?.['H']).toBeDefined();
    expect(more).toEqual([]);
  });

  it('two requests at once, and a third while it moves: the session moves, and hears of none', async () => {
    const session = await open('wanted');
    await valueOf(session, `set application_name = 'wanted'; select 1`, 'CTDCZ');
    const { id } = await findSession(lab.moving, 'wanted');
    const requests = Array.from({ length: 3 }, () => moveSession(lab.moving, id));
    session.send(query(BACKEND));
    for (const answer of await Promise.all(requests)) expect(answer).toMatchObject(MOVED);
    expect(typesOf(await session.answers(1))).toBe('TDCZ');
    expect(await move(lab.moving, 'wanted')).toMatchObject(MOVED);
    expect(await valueOf(session, 'select 42')).toBe('42');
    expect(session.unasked).toEqual([]);
  });

  it('COPY in under way, 200,000 rows: the move waits for its end', async () => {
    const session = await open('copying');
    const backend = await valueOf(session, BACKEND);
    const rows = Array.from({ length: 200 }, (_, n) => aMessage('d', Buffer.from(`${n}\n`.repeat(1000))));
    await valueOf(session, 'delete from numbers where n between 0 and 199', 'CZ');
    session.send(query('copy numbers from stdin'), ...rows, aMessage('d', Buffer.from('7001\n')));
    const moved = await begin('copying');
    await until('COPY at the server', async () => {
      const { name } = await lab.cluster.leader();
      return (
        (await lab.cluster.sql(name, `select 1 from pg_stat_activity where query like 'copy numbers%'`)).length > 0
      );
    });
    session.send(aMessage('d', Buffer.from('7002\n')), COPY_DONE);
    expect(typesOf(await session.answers(1))).toBe('GCZ');
    expect(await moved.done).toMatchObject(MOVED);
    expect(await valueOf(session, 'select count(*) from numbers where n in (7001, 7002)')).toBe('2');
    expect(await valueOf(session, 'select count(*) from numbers where n between 0 and 199')).toBe('200000');
    expect(await valueOf(session, BACKEND)).not.toBe(backend);
  });

  it('COPY out under way: 400,000 rows arrive, and then the session moves', async () => {
    const session = await open('copied');
    session.send(query('copy (select generate_series(1, 400000)) to stdout'));
    const moved = await begin('copied');
    const answer = await session.answers(1);
    expect(answer.filter(({ type }) => type === 'd')).toHaveLength(400_000);
    expect(await moved.done).toMatchObject(MOVED);
    expect(session.unasked).toEqual([]);
  });
}

async function valueOf(session: WireSession, text: string, types = 'TDCZ'): Promise<string> {
  session.send(query(text));
  const answer = await session.answers(1);
  expect(typesOf(answer)).toBe(types);
  return rowsOf(answer)[0] ?? '';
}
