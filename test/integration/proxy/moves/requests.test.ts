// Requests to move a session at any moment of its life: they share one question and one way, and each is answered.
// Nothing of a session that ends meanwhile stays (`lab.end` waits for the last timer).
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MovesPolicy } from '../../../../src/model/moves.ts';
import { LONGEST_QUESTION_MS } from '../../../../src/reports/session-move.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { COMMAND_COMPLETE, COPY_DATA, QUERY, readyForQuery } from '../../../support/sockets/messages.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);

let clock: ManualClock;
let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;

beforeEach(async () => {
  clock = new ManualClock();
  [one, two] = [await startFakeBackend('movable'), await startFakeBackend('movable')];
});

afterEach(() => lab.end(one, two));

async function start(moves: Partial<MovesPolicy> = {}): Promise<void> {
  lab = await startProxyLab({ clock, moves, table: { write: { open: { 'pg-1': one.address } } } });
}

async function connect(): Promise<RawClient> {
  const client = await lab.connect('write');
  await until('the login', () => client.received().includes(readyForQuery('I')));
  return client;
}

function count(kind: string): number {
  return lab.events.filter((event) => event.kind === kind).length;
}

function open(): void {
  lab.decide({ write: { open: { 'pg-2': two.address } } });
}

async function park(): Promise<void> {
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: HANDING_OVER } } } });
  await until('the park', () => count('session_parked') === count('session_opened'));
}

async function activity(): Promise<unknown> {
  return (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.activity;
}

async function sentBytes(): Promise<number> {
  return (await lab.proxy.sessions({ limit: 1 })).sessions[0]?.toBackendBytes ?? 0;
}

test('two requests at once: one question, one way, and an answer for each', async () => {
  await start();
  await connect();
  const moved = await Promise.all([lab.proxy.move(1), lab.proxy.move(1)]);
  expect(moved).toMatchObject([{ kind: 'moved' }, { kind: 'moved' }]);
  expect([count('session_asked'), count('session_moved'), lab.reasons()]).toEqual([1, 1, []]);
});

test('two questions at once are asked one after the other', async () => {
  await start();
  await connect();
  const counted = await Promise.all([lab.proxy.preflight('pg-1'), lab.proxy.preflight('pg-1')]);
  expect(counted).toMatchObject([{ movable: 1 }, { movable: 1 }]);
  expect([count('session_asked'), lab.reasons()]).toEqual([2, []]);
});

test('a server that does not answer: the session stays, is not asked again, and goes on', async () => {
  await start();
  const client = await connect();
  one.last().socket.pause();
  const stayed = lab.proxy.move(1);
  const same = lab.proxy.move(1);
  client.socket.write(QUERY);
  await clock.advance(LONGEST_QUESTION_MS);
  const failed = { kind: 'stayed', reason: 'question_failed' };
  expect([await stayed, await same]).toMatchObject([failed, failed]);
  expect(await lab.proxy.move(1)).toMatchObject({ ...failed, detail: expect.stringContaining('an earlier question') });
  const before = client.received().length;
  one.last().socket.resume();
  await until('the answer', () => client.received().length > before);
  expect(client.received().subarray(before)).toEqual(ANSWER);
});

test('a reload removes `moves` while the server is asked: the session stays', async () => {
  await start();
  await connect();
  one.last().socket.pause();
  const stayed = lab.proxy.move(1);
  await lab.reload();
  one.last().socket.resume();
  expect(await stayed).toMatchObject({ kind: 'stayed', reason: 'role_not_configured' });
  expect(lab.reasons()).toEqual([]);
});

test('statements that were held back for a pause go on when nobody waits for it any more', async () => {
  await start();
  const client = await connect();
  one.last().socket.pause();
  client.socket.write(QUERY);
  await until('the first statement', async () => (await activity()) === 'busy');
  const before = await sentBytes();
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: HANDING_OVER } } } });
  // Data of a COPY pass.
  client.socket.write(Buffer.concat([COPY_DATA, QUERY]));
  await until('the data', async () => (await sentBytes()) !== before);
  expect(await sentBytes()).toBe(before + COPY_DATA.length);
  // It did not happen.
  lab.decide({ write: { open: { 'pg-1': one.address } } });
  // The server has not answered the first one.
  await until('the next one', async () => (await sentBytes()) === before + COPY_DATA.length + QUERY.length);
});

test('its client leaves while it logs in at the next server: the next session has its place', async () => {
  await start({ concurrent: 1 });
  const clients = [await connect(), await connect()];
  await park();
  two.behaviour = 'silent';
  open();
  await until('the login', () => two.clients() === 1);
  two.behaviour = 'movable';
  const { sessions } = await lab.proxy.sessions({ limit: 2 });
  const moving = sessions.find(({ state }) => state === 'moving')?.client;
  clients.find(({ socket }) => moving?.endsWith(`:${socket.localPort}`) === true)?.socket.resetAndDestroy();
  await until('the end', () => lab.reasons().length === 1);
  await until('the end of its connection', () => two.connections[0]?.hasEnded === true);
  await until('the move of the other one', () => count('session_moved') === 1);
});
