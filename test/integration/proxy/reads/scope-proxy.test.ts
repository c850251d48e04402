// Causal reads of scope `proxy`: when the primary is asked, by what clients have got through this process (G26).
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Snapshot } from '../../../../src/core/snapshot.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { FakePositions } from '../../../support/fakes/fake-positions.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, QUERY, readyForQuery } from '../../../support/sockets/messages.ts';
import { SSL_REQUEST } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import {
  aList,
  aMember,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  isPrimary,
  isReplica,
} from '../../../support/values/builders.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const READY = readyForQuery('I');
const WELCOME = Buffer.concat([AUTHENTICATION_OK, READY]);

let primary: FakeBackend;
let replica: FakeBackend;
let positions: FakePositions;
let lab: ProxyLab;
let clock: ManualClock;
let snapshot: Snapshot;

/** Both members say so now, on this timeline. */
function known(timeline: number): Snapshot {
  const now = clock.now();
  const members = [aMember('pg-1', { postgres: primary.address }), aMember('pg-2', { postgres: replica.address })];
  const words = [isPrimary('pg-1', now, { timeline }), isReplica('pg-2', now, { timeline })];
  return aSnapshot(aPolicy(), aList(now, ...members), ...words);
}

beforeEach(async () => {
  [primary, replica] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  positions = new FakePositions();
  positions.replayed.set('pg-2', 100);
  clock = new ManualClock();
  snapshot = known(1);
  lab = await startProxyLab({
    pools: [aWritePool(), aPool({ causalReads: { scope: 'proxy', waitMs: 500, late: 'error' } })],
    clock,
    snapshot: () => snapshot,
    openPositions: () => positions,
    table: { write: { open: { 'pg-1': primary.address } }, read: { open: { 'pg-2': replica.address } } },
  });
});

afterEach(() => lab.end(primary, replica));

async function welcomed(client: RawClient, server: FakeBackend, before: number): Promise<RawClient> {
  await until('the startup', () => server.connections.length > before && server.last().chunks.length > 0);
  server.last().chunks.length = 0;
  server.last().socket.write(WELCOME);
  await until('the welcome', () => client.received().length === WELCOME.length);
  return client;
}

/** A read session of the database `shop`. */
async function aSession(): Promise<RawClient> {
  const before = replica.connections.length;
  return welcomed(await lab.connect('read'), replica, before);
}

function arrived(): Buffer {
  return replica.last().received();
}

/** Everything that can happen without the passing of time has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A write session of the database. */
async function aWriter(database: string): Promise<RawClient> {
  const before = primary.connections.length;
  return welcomed(await lab.connect('write', { user: 'app', database }), primary, before);
}

/** The next read of the client, and how many questions the primary was asked for it. */
async function questionsOfRead(client: RawClient): Promise<number> {
  const [before, statements] = [positions.asked.primary, arrived().length];
  client.socket.write(QUERY);
  await until('the statement', () => arrived().length === statements + QUERY.length);
  const answered = client.received().length;
  replica.last().socket.write(READY);
  await until('the answer', () => client.received().length === answered + READY.length);
  return positions.asked.primary - before;
}

async function answers(bytes: Buffer, ...clients: readonly RawClient[]): Promise<void> {
  const { socket } = primary.last();
  const before = clients.map((client) => client.received().length);
  socket.write(bytes);
  await until('the answer', () => clients.every((one, i) => one.received().length === (before[i] ?? 0) + bytes.length));
}

const DONE = Buffer.concat([COMMAND_COMPLETE, READY]);

test('G26: the primary is asked behind what it has answered to a client of the database, and not else', async () => {
  const client = await aSession();
  expect(await questionsOfRead(client)).toBe(1);
  expect(await questionsOfRead(client)).toBe(0);
  const writer = await aWriter('shop');
  expect(await questionsOfRead(client)).toBe(1);
  expect(await questionsOfRead(client)).toBe(0);
  await answers(DONE, writer);
  expect(await questionsOfRead(client)).toBe(1);
  expect(await questionsOfRead(client)).toBe(0);
  expect(lab.proxy.counts().get('read')?.causalReads?.results).toMatchObject({ free: 3, at_once: 3 });
});

test('G26: a read waits for what was acknowledged, and not for what others write', async () => {
  const [client, writer] = [await aSession(), await aWriter('shop')];
  await questionsOfRead(client);
  positions.written = 200;
  expect(await questionsOfRead(client)).toBe(0);
  await answers(DONE, writer);
  const statements = arrived().length;
  client.socket.write(QUERY);
  await until('a question', () => positions.asked.primary === 2);
  await settled();
  expect(arrived()).toHaveLength(statements);
  const [waiting] = (await lab.proxy.sessions({ limit: 10 })).sessions.flatMap(({ read }) => read ?? []);
  expect(waiting).toMatchObject({ scope: 'proxy', mustShow: { position: 200 } });
  positions.replayed.set('pg-2', 200);
  await clock.advance(10);
  await until('the statement', () => arrived().length > statements);
});

test('what is acknowledged while a question is under way needs another one', async () => {
  const [client, writer] = [await aSession(), await aWriter('shop')];
  const { promise, resolve } = Promise.withResolvers<void>();
  positions.delay = promise;
  client.socket.write(QUERY);
  await until('a question', () => positions.asked.primary === 1);
  await answers(DONE, writer);
  client.socket.write(QUERY);
  await settled();
  resolve();
  await until('both statements', () => arrived().length === 2 * QUERY.length);
  expect(positions.asked.primary).toBe(2);
});

test('a question without an answer stays due', async () => {
  const client = await aSession();
  positions.faults.set('pg-1', 'too many clients');
  client.socket.write(QUERY);
  await until('a question', () => positions.asked.primary === 1);
  await settled();
  await clock.advance(500);
  await until('the error', () => client.received().length > WELCOME.length);
  positions.faults.clear();
  await clock.advance(100);
  expect(await questionsOfRead(client)).toBe(1);
});

test('writes to another database need no question; those of a session that has ended still do', async () => {
  const [client, writer] = [await aSession(), await aWriter('shop')];
  await questionsOfRead(client);
  await answers(DONE, await aWriter('another'));
  expect(await questionsOfRead(client)).toBe(0);
  primary.connections[0]?.socket.write(DONE);
  await until('the answer', () => writer.received().length > WELCOME.length);
  writer.socket.resetAndDestroy();
  await until('the end', () => lab.reasons().includes('client_reset'));
  expect(await questionsOfRead(client)).toBe(1);
});

test('what cannot be read may be a write to any database', async () => {
  const client = await aSession();
  await questionsOfRead(client);
  const hidden = await connectRaw(lab.address('write'));
  hidden.socket.write(SSL_REQUEST);
  await until('the request', () => primary.connections.length > 0 && primary.last().chunks.length > 0);
  await answers(Buffer.from('S'), hidden);
  await questionsOfRead(client);
  expect(await questionsOfRead(client)).toBe(0);
  hidden.socket.write('a handshake, say');
  await until('the bytes', () => primary.last().received().includes('a handshake'));
  await answers(Buffer.from('nobody can read this'), hidden);
  expect(await questionsOfRead(client)).toBe(1);
});

test('the first read behind a change of the primary asks, and the answers of the old one count no more', async () => {
  const client = await aSession();
  await questionsOfRead(client);
  expect(await questionsOfRead(client)).toBe(0);
  snapshot = known(2);
  positions.timeline = 2;
  expect(await questionsOfRead(client)).toBe(1);
  expect(await questionsOfRead(client)).toBe(0);
});

test('each session needs the word of its replica since its connect', async () => {
  await questionsOfRead(await aSession());
  const asked = { ...positions.asked };
  await questionsOfRead(await aSession());
  expect(positions.asked).toEqual({ primary: asked.primary, replica: asked.replica + 1 });
});
