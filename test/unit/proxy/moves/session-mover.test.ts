// A session that moves: its client, its events and its entry in the list. On simulated hosts.
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LoginTap } from '../../../../src/proxy/moves/login-tap.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { simulatedGround } from '../../../support/labs/simulated-ground.ts';
import { CONNECTED } from '../../../support/labs/step-scripts.ts';
import { QUERY } from '../../../support/sockets/messages.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';

const play = expectQuickScript;

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
