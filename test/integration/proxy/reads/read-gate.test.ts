// Causal reads at the port: a transaction waits until its server shows all that was acknowledged, or is late (G26).
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Snapshot } from '../../../../src/core/snapshot.ts';
import type { CausalReadsPolicy } from '../../../../src/model/causal-reads.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { FakePositions } from '../../../support/fakes/fake-positions.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import {
  AUTHENTICATION_OK,
  BIND,
  COMMAND_COMPLETE,
  EXECUTE,
  PARSE,
  QUERY,
  SYNC,
  TERMINATE,
  backendKeyData,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { aCancelOf, errorFields } from '../../../support/sockets/packets.ts';
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

let primary: FakeBackend;
let replica: FakeBackend;
let positions: FakePositions;
let lab: ProxyLab;
let clock: ManualClock;
let snapshot: Snapshot;

const READY = readyForQuery('I');
const SECRET = Buffer.from([1, 2, 3, 4]);
const KEY = backendKeyData(7, SECRET);
const WELCOME = Buffer.concat([AUTHENTICATION_OK, KEY, READY]);
const EXTENDED = Buffer.concat([PARSE, BIND, EXECUTE, SYNC]);

async function start(causalReads: Partial<CausalReadsPolicy> = {}): Promise<void> {
  [primary, replica] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  positions = new FakePositions();
  clock = new ManualClock();
  const pools = [
    aWritePool(),
    aPool({ causalReads: { scope: 'cluster', waitMs: 500, late: 'error', ...causalReads } }),
  ];
  const policy = aPolicy({ pools });
  const members = [aMember('pg-1', { postgres: primary.address }), aMember('pg-2', { postgres: replica.address })];
  const now = clock.now();
  snapshot = aSnapshot(policy, aList(now, ...members), isPrimary('pg-1', now), isReplica('pg-2', now));
  lab = await startProxyLab({
    pools,
    clock,
    snapshot: () => snapshot,
    openPositions: () => positions,
    table: { write: { open: { 'pg-1': primary.address } }, read: { open: { 'pg-2': replica.address } } },
  });
}

beforeEach(() => start());
afterEach(() => lab.end(primary, replica));

async function aSession(server = replica): Promise<RawClient> {
  const before = server.connections.length;
  const client = await lab.connect('read');
  await until('the startup', () => server.connections.length > before && server.last().chunks.length > 0);
  server.last().chunks.length = 0;
  server.last().socket.write(WELCOME);
  await until('the welcome', () => client.received().length === WELCOME.length);
  return client;
}

function answerOf(client: RawClient): Buffer {
  return client.received().subarray(WELCOME.length);
}

function arrived(): Buffer {
  return replica.last().received();
}

async function arrives(bytes: Buffer): Promise<void> {
  await until('the statement', () => arrived().length >= bytes.length);
  expect(arrived()).toEqual(bytes);
}

/** Everything that can happen without the passing of time has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a read waits until its server has replayed what the primary had written when it came', async () => {
  const client = await aSession();
  client.socket.write(QUERY);
  await until('a question to the replica', () => positions.asked.replica > 0);
  const [waiting] = (await lab.proxy.sessions({ limit: 1 })).sessions;
  expect(waiting).toMatchObject({
    activity: 'idle',
    read: { since: clock.now(), member: 'pg-2', primary: 'pg-1', mustShow: { position: 100, timeline: 1 } },
  });
  // The primary goes on: that is not this read's concern.
  positions.written = 200;
  await settled();
  expect(arrived()).toEqual(Buffer.alloc(0));
  positions.replayed.set('pg-2', 100);
  await clock.advance(10);
  await arrives(QUERY);
  expect(positions.asked.primary).toBe(1);
});

test('on a quiet cluster one question is enough', async () => {
  positions.replayed.set('pg-2', 100);
  const client = await aSession();
  for (const round of [1, 2, 3]) {
    client.socket.write(EXTENDED);
    await until('the statement', () => arrived().length === round * EXTENDED.length);
    replica.last().socket.write(READY);
    await until('the answer', () => answerOf(client).length === round * READY.length);
  }
  expect(positions.asked).toEqual({ primary: 3, replica: 1 });
});

test('reads that come while a question is under way share the next one', async () => {
  positions.replayed.set('pg-2', 100);
  const first = await aSession();
  const { promise, resolve } = Promise.withResolvers<void>();
  positions.delay = promise;
  first.socket.write(QUERY);
  await until('a question', () => positions.asked.primary === 1);
  const others = [await aSession(), await aSession(), await aSession()];
  for (const { socket } of others) socket.write(QUERY);
  await settled();
  expect(positions.asked.primary).toBe(1);
  positions.delay = undefined;
  resolve();
  await until('all statements', () => replica.connections.every((one) => one.received().length === QUERY.length));
  expect(positions.asked.primary).toBe(2);
});

test('the transactions of one chunk need one check, and those that come behind it another one', async () => {
  positions.replayed.set('pg-2', 100);
  const client = await aSession();
  const pipeline = Buffer.concat([QUERY, EXTENDED, QUERY]);
  client.socket.write(pipeline);
  await arrives(pipeline);
  expect(positions.asked.primary).toBe(1);
  client.socket.write(QUERY);
  await arrives(Buffer.concat([pipeline, QUERY]));
  expect(positions.asked.primary).toBe(2);
});

test('within a transaction nothing waits', async () => {
  positions.replayed.set('pg-2', 100);
  const client = await aSession();
  client.socket.write(QUERY);
  await arrives(QUERY);
  replica.last().socket.write(readyForQuery('T'));
  await until('the answer', () => answerOf(client).length > 0);
  client.socket.write(EXTENDED);
  await arrives(Buffer.concat([QUERY, EXTENDED]));
  expect(positions.asked.primary).toBe(1);
});

test('a late read gets an error, and its session goes on', async () => {
  positions.replayed.set('pg-2', 40);
  const client = await aSession();
  client.socket.write(QUERY);
  await until('a question to the replica', () => positions.asked.replica > 0);
  await settled();
  await clock.advance(500);
  await until('the error', () => answerOf(client).length > 0);
  expect(errorFields(answerOf(client))).toMatchObject({
    S: 'ERROR',
    C: '57014',
    M: 'pointsman: the read waited 500 ms, and pg-2 does not show every acknowledged write (read_late)',
    D: expect.stringContaining('pg-2 is 60 B behind pg-1.'),
  });
  expect(answerOf(client).subarray(-READY.length)).toEqual(READY);
  expect(arrived()).toEqual(Buffer.alloc(0));
  const late = { pool: 'read', member: 'pg-2', result: 'error', count: 1, isFirst: true };
  expect(lab.events).toContainEqual(expect.objectContaining({ kind: 'reads_late', ...late }));
  expect(lab.proxy.counts().get('read')?.causalReads?.lastMinute).toMatchObject({ longestMs: 500, waitedMs: 500 });
  positions.replayed.set('pg-2', 100);
  client.socket.write(QUERY);
  await until('a question', () => positions.asked.primary > 1);
  await clock.advance(10);
  await arrives(QUERY);
});

test('each transaction of a late pipeline gets its error, behind the answers that are due', async () => {
  positions.replayed.set('pg-2', 100);
  const client = await aSession();
  client.socket.write(QUERY);
  await arrives(QUERY);
  positions.written = 200;
  client.socket.write(Buffer.concat([EXTENDED, QUERY]));
  await until('a question', () => positions.asked.primary > 1);
  await settled();
  await clock.advance(500);
  await settled();
  expect(answerOf(client)).toEqual(Buffer.alloc(0));
  const due = Buffer.concat([COMMAND_COMPLETE, READY]);
  replica.last().socket.write(due);
  await until('two errors', () => answerOf(client).toString('latin1').split('read_late').length === 3);
  const answer = answerOf(client);
  expect(answer.subarray(0, due.length)).toEqual(due);
  expect(types(answer.subarray(due.length))).toBe('EZEZ');
  expect(arrived()).toEqual(QUERY);
});

test('a transaction that was open before is not late', async () => {
  positions.replayed.set('pg-2', 100);
  const client = await aSession();
  client.socket.write(QUERY);
  await arrives(QUERY);
  positions.written = 200;
  client.socket.write(EXTENDED);
  await until('a question', () => positions.asked.primary > 1);
  await settled();
  await clock.advance(500);
  await settled();
  replica.last().socket.write(readyForQuery('T'));
  await arrives(Buffer.concat([QUERY, EXTENDED]));
});

test('late: stale runs the read, and tells its client once in a minute', async () => {
  await lab.end(primary, replica);
  await start({ late: 'stale' });
  const client = await aSession();
  for (const round of [1, 2]) {
    client.socket.write(QUERY);
    await until('a question', () => positions.asked.primary >= round);
    await settled();
    await clock.advance(500);
    await until('the statement', () => arrived().length === round * QUERY.length);
    replica.last().socket.write(READY);
    await until(
      'the answer',
      () => types(answerOf(client)).endsWith('Z'.repeat(1)) && types(answerOf(client)).length > round,
    );
  }
  expect(types(answerOf(client))).toBe('NZZ');
  expect(answerOf(client).toString('latin1')).toContain('C01000\0Mpointsman: this read may miss acknowledged writes');
});

test('a cancel request takes out the read that waits, and that of a client that has left runs nowhere', async () => {
  const client = await aSession();
  client.socket.write(QUERY);
  await until('a question', () => positions.asked.primary > 0);
  const cancel = await connectRaw(lab.address('read'));
  cancel.socket.write(aCancelOf(7, SECRET));
  await until('the error', () => answerOf(client).length > 0);
  expect(types(answerOf(client))).toBe('EZ');
  expect(errorFields(answerOf(client))).toMatchObject({ C: '57014', M: 'canceling statement due to user request' });
  client.socket.write(QUERY);
  await settled();
  client.socket.resetAndDestroy();
  // A client whose read waits is not read, so its end shows when it is answered.
  await settled();
  await clock.advance(500);
  await until('the end', () => lab.reasons().includes('client_reset'));
  positions.replayed.set('pg-2', 100);
  await clock.advance(10);
  await settled();
  expect(arrived()).toEqual(Buffer.alloc(0));
});

test('a read at the primary itself waits for nothing', async () => {
  lab.decide({ write: { open: { 'pg-1': primary.address } }, read: { open: { 'pg-1': primary.address } } });
  const client = await aSession(primary);
  for (const round of [1, 2]) {
    client.socket.write(QUERY);
    await until('the statement', () => primary.last().received().length === round * QUERY.length);
    primary.last().socket.write(READY);
    await until('the answer', () => answerOf(client).length === round * READY.length);
  }
  // The first one shows that its server is a primary since its connect.
  expect(positions.asked).toEqual({ primary: 1, replica: 0 });
});

test('while no primary is proven a read waits, until there is one', async () => {
  const known = snapshot;
  positions.replayed.set('pg-2', 100);
  snapshot = { ...known, highestTimeline: 2 };
  const client = await aSession();
  client.socket.write(QUERY);
  await settled();
  expect(positions.asked.primary).toBe(0);
  const [waiting] = (await lab.proxy.sessions({ limit: 1 })).sessions;
  expect(waiting?.read).toMatchObject({ reason: 'primary_unproven', why: 'No primary is proven.', isLate: false });
  snapshot = known;
  lab.decide({ write: { open: { 'pg-1': primary.address } }, read: { open: { 'pg-2': replica.address } } });
  await arrives(QUERY);
});

test('a flush that nobody does is asked for', async () => {
  positions.flushed = 60;
  const client = await aSession();
  client.socket.write(QUERY);
  await until('a question to the replica', () => positions.asked.replica > 0);
  for (let passed = 0; passed < 100 && positions.nudges === 0; passed += 10) {
    await clock.advance(10);
    await settled();
  }
  expect(positions.nudges).toBe(1);
  positions.replayed.set('pg-2', 100);
  await clock.advance(10);
  await arrives(QUERY);
});

test('a goodbye waits for nothing', async () => {
  const client = await aSession();
  client.socket.write(TERMINATE);
  await arrives(TERMINATE);
  expect(positions.asked.primary).toBe(0);
});

test('a replication connection is refused', async () => {
  const client = await lab.connect('read', { user: 'app', replication: 'true' });
  await until('the error', () => client.received().length > 0);
  expect(errorFields(client.received())).toMatchObject({ C: '0A000' });
  client.socket.end();
  await until('the end', () => lab.reasons().length > 0);
  expect(lab.reasons()).toEqual(['causal_reads_unreadable']);
});

/** The types of whole messages. */
function types(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1))
    text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}
