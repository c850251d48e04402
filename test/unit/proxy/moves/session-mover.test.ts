// A session is asked, and parked or left where it is, on simulated hosts.
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LoginTap } from '../../../../src/proxy/moves/login-tap.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { simulatedGround } from '../../../support/labs/simulated-ground.ts';
import { CONNECTED } from '../../../support/labs/step-scripts.ts';
import { QUERY } from '../../../support/sockets/messages.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { aPool } from '../../../support/values/builders.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';

const play = expectQuickScript;
const WHY_IT_ENDS = 'pg-1: switchover in progress for 100.5 s; the session could not move, because it listens (jobs)';
const LISTENS = `
  pg-1 becomes listening |${CONNECTED}`;

describe('a session that cannot move', () => {
  test('stays, and the operator is told why', () =>
    play(`${LISTENS}
  operator asks it      | asked: pinned · operator: 0 movable, 1 listening, 0 unknown · idle
  operator moves it     | asked: pinned · stays: listening · operator: stayed listening: jobs · idle
  client queries        | client reads its answer · idle`));

  test('ends where its server stops, and its client is told why', () =>
    play(`${LISTENS}
  pg-1 hands over       | asked: pinned · stays: listening · idle
  1 s pass              | leaves pg-1 · client reads 57P01 · closing
  client looks closer   | ${WHY_IT_ENDS} · closing`));

  test('and whose transaction was rolled back ends', () =>
    play(
      `${LISTENS}
  client begins         | in_transaction
  pg-1 hands over within 10 s | in_transaction
  10 s pass             | asked: pinned · stays: listening · closed: evicted_switchover_timeout · leaves pg-1
                        | client is reset`,
      { moves: { onStays: 'abort' } },
    ));

  test('for replication', () =>
    play(`
  pg-1 opens            |
  client connects to replicate | reaches pg-1 · idle
  operator moves it     | stays: replication · operator: stayed replication · idle`));

  test('of a role that no pattern names', () =>
    play(
      `${CONNECTED}
  operator moves it     | stays: role_not_configured · operator: stayed role_not_configured: app · idle
  pg-1 hands over       | stays: role_not_configured · idle`,
      { moves: { roles: ['other*'] } },
    ));

  test('of a role that one of several patterns names can', () =>
    play(
      `${CONNECTED}
  operator moves it     | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · idle`,
      { moves: { roles: ['other*', 'a*'] } },
    ));

  test('because no pool can tell how far the primary is', () =>
    play(
      `${CONNECTED}
  operator moves it     | asked: pinned · stays: unknown_position
                        | operator: stayed unknown_position: no pool asks for the primary · idle
  client queries        | client reads its answer · idle`,
      { pool: 'read', pools: [aPool()] },
    ));

  test('for a reason of its own, which is told before that', () =>
    play(
      `${LISTENS}
  operator moves it     | asked: pinned · stays: listening · operator: stayed listening: jobs · idle`,
      { pool: 'read', pools: [aPool()] },
    ));

  test('because no server can tell the name of a setting that it computed', () =>
    play(`${CONNECTED}
  client computes a name | client reads its answer · idle
  operator moves it     | stays: hidden_state · operator: stayed hidden_state: set_config · idle`));

  test('because its state is too large', () =>
    play(
      `
  pg-1 becomes wordy    |${CONNECTED}
  operator moves it     | asked: failed · stays: too_much_state
                        | operator: stayed too_much_state: over 1000 bytes · idle`,
      { moves: { maxStateBytes: 1_000 } },
    ));

  test('because a function computes names of settings', () =>
    play(`
  pg-1 becomes computing |${CONNECTED}
  operator moves it     | asked: pinned · stays: hidden_state
                        | operator: stayed hidden_state: the function audit.log computes names of settings
                        | idle`));

  test('where the settings are listed, a function may do so', () =>
    play(
      `
  pg-1 becomes computing |${CONNECTED}
  operator moves it     | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · idle`,
      { moves: { settings: ['app.tenant'] } },
    ));

  test('in a transaction: the operator waits for its end, and no longer than is allowed', () =>
    play(
      `${CONNECTED}
  client begins         | in_transaction
  operator moves it     | in_transaction
  9 s pass              | in_transaction
  1 s pass              | stays: busy · operator: stayed busy · in_transaction
  client commits        | client reads its answer · idle`,
      { moves: { waitMs: 10_000 } },
    ));

  test('in a statement: it is not cancelled for that', () =>
    play(
      `${CONNECTED}
  pg-1 halts            | idle
  client queries        | busy
  operator moves it     | busy
  1 s pass              | stays: busy · operator: stayed busy · busy
  pg-1 continues        | client reads its answer · idle`,
      { moves: { waitMs: 1_000 } },
    ));

  test('in a transaction that ends in time', () =>
    play(
      `${CONNECTED}
  client begins         | in_transaction
  operator moves it     | in_transaction
  client commits        | reaches pg-1 · asked: movable · parked: operator · moved to pg-1 · leaves pg-1
                        | operator: moved · client reads its answer · idle
  60 s pass             | idle`,
      { moves: { waitMs: 10_000 } },
    ));
});

describe('questions', () => {
  test('one after the other', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator asks it      | idle
  operator asks it      | idle
  pg-1 continues        | asked: movable · asked: movable · operator: 1 movable, 0 unknown
                        | operator: 1 movable, 0 unknown · idle`));

  test('a request behind one has its own', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator asks it      | idle
  operator moves it     | idle
  operator moves it     | idle
  pg-1 continues        | reaches pg-1 · asked: movable · asked: movable · parked: operator · moved to pg-1
                        | leaves pg-1 · operator: 1 movable, 0 unknown · operator: moved · operator: moved
                        | idle`));

  test('a server that does not answer is not asked again', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  client queries        | idle
  30 s pass             | asked: failed · stays: question_failed
                        | operator: stayed question_failed: no answer in time · idle
  operator moves it     | stays: question_failed
                        | operator: stayed question_failed: an earlier question has no answer yet · idle
  pg-1 continues        | client reads its answer · idle`));

  test('that cancel requests hit again and again fail', () =>
    play(`
  pg-1 becomes unwilling |${CONNECTED}
  operator moves it     | asked: failed · stays: question_failed
                        | operator: stayed question_failed: 57014 canceled · idle
  client queries        | client reads its answer · idle`));

  test('a server that does not speak the protocol in one: its session is not trusted', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 babbles          | asked: failed · stays: question_failed · closed: backend_closed
                        | operator: stayed question_failed: the answer is not understood · client is closed`));

  test('its client half-closes in one: it stays, and ends by itself', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  client half-closes    | idle
  pg-1 continues        | asked: movable · stays: busy · closed: client_closed · leaves pg-1
                        | operator: stayed busy · client is closed`));

  test('of a session that has ended', () =>
    play(`${CONNECTED}
  operator kills it     | leaves pg-1 · client reads 57P01 · closing
  operator moves it     | operator: failed killed_by_operator · closing`));

  test('a server that ends the session in one', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  pg-1 closes 57P01     | pg-1 is probed · asked: failed · stays: question_failed · leaves pg-1
                        | operator: stayed question_failed: 57P01 terminating connection
                        | client reads 57P01 of its server · closing
  client leaves         | closed: backend_closed`));

  test('the section is taken away meanwhile', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  operator moves it     | idle
  operator takes moves away | idle
  pg-1 continues        | asked: pinned · stays: role_not_configured · operator: stayed role_not_configured: app
                        | idle`));
});

describe('its client', () => {
  test('is told what is different at the next server', () =>
    play(`${CONNECTED}
  pg-1 hands over       | asked: movable · parked: switchover · leaves pg-1 · waits for a route: no eligible member
  pg-2 becomes elsewhere | waits for a route: no eligible member
  pg-2 opens            | reaches pg-2 · moved to pg-2 · client reads Asia/Tokyo · idle
  pg-2 hands over       | asked: movable · parked: switchover · leaves pg-2 · waits for a route: no eligible member
  pg-1 becomes elsewhere | waits for a route: no eligible member
  pg-1 opens            | reaches pg-1 · moved to pg-1 · idle`));

  test('whose requests were held back for a pause that nobody needs any more goes on', () =>
    play(`${CONNECTED}
  pg-1 halts            | idle
  client queries        | busy
  pg-1 hands over       | busy
  client queries        | busy
  pg-1 opens            | busy
  pg-1 continues        | client reads its answer, its answer · idle`));
});

test('requests that were held back for a pause go on when it is over, and not behind the next answer', async () => {
  const ground = simulatedGround();
  const server = await ground.server();
  const open = { write: { open: { 'pg-1': server.address } } };
  const lab = await startProxyLab({ moves: {}, ...ground.options, table: open });
  const { socket } = await ground.connect(lab.address('write'));
  socket.write(aStartup());
  await ground.pass(10);
  let size = 0;
  // It answers nothing more.
  server
    .last()
    .socket.removeAllListeners('data')
    .on('data', (chunk: Buffer) => (size += chunk.length));
  const write = (): Promise<void> => (socket.write(QUERY), ground.pass(10));
  await write();
  lab.decide({ write: { others: { 'pg-1': { address: server.address, standing: HANDING_OVER } } } });
  await write();
  expect(size).toBe(QUERY.length);
  lab.decide(open);
  await ground.pass(10);
  expect(size).toBe(2 * QUERY.length);
  socket.destroy();
  await ground.end(lab, [server]);
});

test('the names that the objects of a database have for settings are told to the next question there', async () => {
  const ground = simulatedGround();
  const server = await ground.server();
  server.behaviour = 'naming';
  const table = { write: { open: { 'pg-1': server.address } } };
  const lab = await startProxyLab({ moves: {}, ...ground.options, table });
  const sockets: Socket[] = [];
  const connect = async (database: string): Promise<void> => {
    const { socket } = await ground.connect(lab.address('write'));
    sockets.push(socket);
    socket.write(aStartup({ user: 'app', database }));
    await ground.pass(10);
  };
  const told = btoa('{"names":["app.tenant"],"version":"v1","unclear":[]}');
  const areTold = async (): Promise<readonly boolean[]> => {
    void lab.proxy.preflight('pg-1');
    await ground.pass(20);
    return server.connections.map((connection) => connection.received().includes(told));
  };
  await connect('shop');
  expect(await areTold()).toEqual([false]);
  await connect('other');
  expect(await areTold()).toEqual([true, false]);
  for (const socket of sockets) socket.destroy();
  await ground.end(lab, [server]);
});

test('its events have their figures, and its entry in the list has its last move and the last answer', async () => {
  const ground = simulatedGround();
  const [before, next] = [await ground.server(), await ground.server()];
  const lab = await startProxyLab({
    moves: {},
    ...ground.options,
    table: { write: { open: { 'pg-1': before.address } } },
  });
  const { socket } = await ground.connect(lab.address('write'));
  socket.write(aStartup());
  await ground.pass(10);
  const moves = async () => (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.moves;
  expect(await moves()).toStrictEqual({ moved: 0 });
  before.last().socket.pause();
  lab.decide({ write: { others: { 'pg-1': { address: before.address, standing: HANDING_OVER } } } });
  await ground.pass(100);
  before.last().socket.resume();
  await ground.pass(5_000);
  next.behaviour = 'listening';
  lab.decide({ write: { open: { 'pg-2': next.address } } });
  await ground.pass(100);
  const about = { pool: 'write', session: 1 };
  expect(rounded(lab.events.filter(({ kind }) => /^session_(?:asked|parked|moved)$/.test(kind)))).toStrictEqual([
    { kind: 'session_asked', ...about, member: 'pg-1', result: 'movable', durationMs: 100 },
    { kind: 'session_parked', ...about, member: 'pg-1', cause: 'switchover' },
    {
      kind: 'session_moved',
      ...about,
      from: 'pg-1',
      to: 'pg-2',
      cause: 'switchover',
      gapMs: 5_000,
      loginMs: 0,
      wasWaiting: false,
    },
  ]);
  const last = { from: 'pg-1', to: 'pg-2', cause: 'switchover', gapMs: 5_000, at: expect.any(Number) };
  const found = { movability: { kind: 'movable' }, at: expect.any(Number) };
  expect(rounded(await moves())).toStrictEqual({ moved: 1, last, found });
  void lab.proxy.move(1);
  await ground.pass(20);
  const pinned = { kind: 'pinned', reason: 'listening', detail: 'jobs' };
  expect((await moves())?.found?.movability).toStrictEqual(pinned);
  await lab.proxy.kill(1);
  expect((await moves())?.found?.movability).toStrictEqual(pinned);
  socket.destroy();
  await ground.end(lab, [before, next]);
});

test('G25: its login is overwritten at its end', async () => {
  const clear = vi.spyOn(LoginTap.prototype, 'clear');
  onTestFinished(() => clear.mockRestore());
  await play(`${CONNECTED}
  client leaves         | closed: client_reset · leaves pg-1`);
  expect(clear).toHaveBeenCalled();
});

/** Times in tens of milliseconds. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, ms) => (name.endsWith('Ms') ? 10 * Math.round(ms / 10) : ms));
}
