// A cancel request reaches the server whose session has its key, and no other (G17).
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { BackendConnection, FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import {
  AUTHENTICATION_OK,
  QUERY,
  TERMINATE,
  backendKeyData,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { SSL_REQUEST, aCancelOf, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { NO_SIBLINGS } from '../../../../src/proxy/siblings.ts';
import type { CancelOutcome, Siblings } from '../../../../src/proxy/siblings.ts';
import { connectRaw, watch } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let clock: ManualClock;

const SECRET = Buffer.from([1, 2, 3, 4]);

beforeEach(async () => {
  [one, two] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  clock = new ManualClock();
  const table = { write: { open: { 'pg-1': one.address } }, read: { open: { 'pg-2': two.address } } };
  lab = await startProxyLab({ clock, table });
});

afterEach(() => lab.end(one, two));

/** A session whose client has read its key. */
async function aSession(backend: FakeBackend, key: Uint8Array, opening = aStartup()): Promise<RawClient> {
  const client = await connectRaw(lab.address(backend === one ? 'write' : 'read'));
  const before = backend.connections.length;
  client.socket.write(opening);
  await until('the session', () => backend.connections.length === before + 1 && backend.last().chunks.length > 0);
  const answer = Buffer.concat([AUTHENTICATION_OK, key, readyForQuery('I')]);
  // The cut is within the key.
  backend.last().socket.write(answer.subarray(0, 14));
  await until('a part', () => client.received().length === 14);
  backend.last().socket.write(answer.subarray(14));
  await until('the rest', () => client.received().length === answer.length);
  return client;
}

async function cancel(pool: string, request: Uint8Array): Promise<RawClient> {
  const client = await connectRaw(lab.address(pool));
  client.socket.write(request);
  return client;
}

function whoHeard(request: Uint8Array): readonly string[] {
  const has = (connection: BackendConnection): boolean => connection.received().equals(request);
  return [...one.connections.filter(has).map(() => 'pg-1'), ...two.connections.filter(has).map(() => 'pg-2')];
}

function told() {
  return lab.events.flatMap((event) => (event.kind === 'cancel_forwarded' ? [event] : []));
}

test.each([4, 32, 256])('scenario 35: a key of %i bytes finds its session, at any listener', async (length) => {
  const secret = Buffer.alloc(length, 9);
  await aSession(one, backendKeyData(42, SECRET));
  await aSession(two, backendKeyData(42, secret));
  const request = aCancelOf(42, secret);
  await cancel('write', request);
  await until('the request', () => whoHeard(request).length > 0);
  expect(whoHeard(request)).toEqual(['pg-2']);
  expect(told()).toMatchObject([{ pool: 'write', key: 'known', members: ['pg-2'] }]);
  two.last().socket.end();
  await until('the end', () => lab.reasons().length === 1);
  expect(one.connections).toHaveLength(1);
});

test('scenario 35: an unknown key goes to the listener’s own pool', async () => {
  await aSession(one, backendKeyData(42, SECRET));
  await aSession(two, backendKeyData(43, SECRET));
  const request = aCancelOf(43, Buffer.from([1, 2, 3, 5]));
  await cancel('write', request);
  await until('the request', () => whoHeard(request).length > 0);
  expect(whoHeard(request)).toEqual(['pg-1']);
  expect(told()).toMatchObject([{ pool: 'write', key: 'unknown', members: ['pg-1'] }]);
});

test('scenario 35: replay after the end: the key of an ended session is unknown', async () => {
  const session = await aSession(two, backendKeyData(43, SECRET));
  session.socket.end();
  two.last().socket.end();
  await until('the end', () => lab.reasons().length === 1);
  const request = aCancelOf(43, SECRET);
  await cancel('write', request);
  await until('the request', () => whoHeard(request).length > 0);
  expect(whoHeard(request)).toEqual(['pg-1']);
  expect(told()).toMatchObject([{ pool: 'write', key: 'unknown' }]);
});

test('scenario 35: a key of another proxy’s session goes to the pool’s members, also without a session', async () => {
  const three = await startFakeBackend('silent');
  lab.decide({ write: {}, read: { open: { 'pg-2': two.address, 'pg-3': three.address } } });
  await aSession(two, backendKeyData(43, SECRET));
  const request = aCancelOf(44, SECRET);
  const canceller = await cancel('read', request);
  await until('both', () => told().length === 1 && three.connections.length === 1 && two.connections.length === 2);
  await until('the request', () => whoHeard(request).length === 1 && three.last().received().equals(request));
  expect(told()).toMatchObject([{ pool: 'read', key: 'unknown', members: ['pg-2', 'pg-3'] }]);
  const nobody = await cancel('write', request);
  await until('the end', () => nobody.hasEnded);
  expect(lab.closed()).toMatchObject([{ reason: 'cancel_failed', detail: 'the pool has no member to pass it on to' }]);
  expect(one.connections).toHaveLength(0);
  canceller.socket.destroy();
  await three.stop();
});

test('scenario 35: an unknown key goes to at most eight members', async () => {
  const many = await Promise.all(Array.from({ length: 10 }, () => startFakeBackend('gone')));
  lab.decide({ read: { open: Object.fromEntries(many.map(({ address }, index) => [`pg-${index}`, address])) } });
  const canceller = await cancel('read', aCancelOf(44, SECRET));
  await until('the end', () => canceller.hasEnded);
  expect(many.flatMap(({ connections }) => connections)).toHaveLength(8);
  await Promise.all(many.map((backend) => backend.stop()));
});

test('scenario 35: a key that passes inside an opaque stream is not read', async () => {
  const client = await connectRaw(lab.address('read'));
  client.socket.write(SSL_REQUEST);
  await until('the request', () => two.connections.length === 1 && two.last().chunks.length > 0);
  two.last().socket.write('S');
  await until('S', () => client.received().length === 1);
  two.last().socket.write(Buffer.concat([AUTHENTICATION_OK, backendKeyData(43, SECRET)]));
  await until('the key', () => client.received().length > 20);
  const request = aCancelOf(43, SECRET);
  await cancel('write', request);
  await until('the request', () => whoHeard(request).length > 0);
  expect(whoHeard(request)).toEqual(['pg-1']);
});

test('scenario 35: unknown keys are rate-limited per listener; known keys are not', async () => {
  await aSession(one, backendKeyData(42, SECRET));
  const guess = aCancelOf(42, Buffer.from([0, 0, 0, 0]));
  for (let count = 0; count < 21; count += 1) await cancel('write', guess);
  await until('the last', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([
    { reason: 'cancel_failed', detail: 'dropped: too many requests with unknown keys' },
  ]);
  await until('the others', () => whoHeard(guess).length === 20);
  const request = aCancelOf(42, SECRET);
  await cancel('write', request);
  await until('the request', () => whoHeard(request).length === 1);
  await clock.advance(50);
  await cancel('write', guess);
  await until('one more', () => whoHeard(guess).length === 21);
});

test('scenario 35: a hundred at once, each to its own server', async () => {
  const requests: Buffer[] = [];
  for (let id = 0; id < 100; id += 1) {
    await aSession(id % 2 === 0 ? one : two, backendKeyData(id, SECRET));
    requests.push(aCancelOf(id, SECRET));
  }
  await Promise.all(requests.map((request) => cancel('read', request)));
  await until('all of them', () => requests.every((request) => whoHeard(request).length > 0));
  for (const [id, request] of requests.entries()) expect(whoHeard(request)).toEqual([id % 2 === 0 ? 'pg-1' : 'pg-2']);
});

test('scenario 35: a cancel whose server cannot be reached has failed, and is not counted as passed on', async () => {
  await one.refuseConnections();
  const canceller = await cancel('write', aCancelOf(42, SECRET));
  await until('the end', () => canceller.hasEnded);
  expect(lab.closed().at(-1)).toMatchObject({ reason: 'cancel_failed', detail: 'pg-1: connection refused' });
  expect(told()).toEqual([]);
});

test('scenario 35: the cancel reaches those of several members that accept a connect', async () => {
  const three = await startFakeBackend('gone');
  await two.refuseConnections();
  lab.decide({ read: { open: { 'pg-2': two.address, 'pg-3': three.address } } });
  const canceller = await cancel('read', aCancelOf(44, SECRET));
  await until('the end', () => canceller.hasEnded);
  expect(told()).toMatchObject([{ members: ['pg-3'] }]);
  expect(lab.reasons()).toEqual(['cancel_forwarded']);
  await three.stop();
});

test('scenario 35: an address that guesses without end does not lock out another address', async () => {
  const guess = aCancelOf(42, Buffer.from([0, 0, 0, 0]));
  for (let count = 0; count < 30; count += 1) await cancel('write', guess);
  await until('the ration', () => lab.reasons().length === 10);
  const { host, port } = lab.address('write');
  const other = watch(connect({ host, port, localAddress: '127.0.0.2' }));
  const request = aCancelOf(43, SECRET);
  other.socket.write(request);
  await until('the request', () => whoHeard(request).length === 1);
  await until('the others', () => whoHeard(guess).length === 20);
});

/** Another process that shares the ports. The test gives its answers by hand. */
async function withSiblings(): Promise<((outcome: CancelOutcome) => void)[]> {
  lab.proxy.close();
  const answers: ((outcome: CancelOutcome) => void)[] = [];
  const siblings: Siblings = {
    ...NO_SIBLINGS,
    processes: 2,
    passOnCancel: () => new Promise((resolve) => answers.push(resolve)),
  };
  lab = await startProxyLab({ clock, siblings, table: { write: { open: { 'pg-1': one.address } } } });
  return answers;
}

test('scenario 35: the processes share the limit on guesses', async () => {
  const answers = await withSiblings();
  const guess = aCancelOf(42, SECRET);
  for (let count = 1; count <= 21; count += 1) {
    await cancel('write', guess);
    await until('the question', () => answers.length === count);
  }
  for (const answer of answers) answer({ kind: 'unknown' });
  await until('the others', () => lab.reasons().length === 11);
  await until('the guesses', () => whoHeard(guess).length === 10);
});

test('scenario 35: a cancel passed on by another process is done when that process reports the result', async () => {
  const answers = await withSiblings();
  const first = await cancel('write', aCancelOf(42, SECRET));
  await until('the question', () => answers.length === 1);
  expect(first.hasEnded).toBe(false);
  answers[0]?.({ kind: 'done' });
  await until('the end', () => first.hasEnded);
  const second = await cancel('write', aCancelOf(42, SECRET));
  await until('the question', () => answers.length === 2);
  answers[1]?.({ kind: 'done', problem: 'pg-1: connection refused' });
  await until('the end', () => second.hasEnded);
  expect(lab.closed()).toMatchObject([
    { reason: 'cancel_forwarded', detail: undefined },
    { reason: 'cancel_failed', detail: 'pg-1: connection refused' },
  ]);
  expect(one.connections).toHaveLength(0);
});

test('scenario 35: an answer of another process after the end of this process starts nothing', async () => {
  const answers = await withSiblings();
  await cancel('write', aCancelOf(42, SECRET));
  await until('the question', () => answers.length === 1);
  lab.proxy.close();
  answers[0]?.({ kind: 'unknown' });
  await clock.advance(0);
  expect([clock.pending(), one.connections.length]).toEqual([0, 0]);
});

test('a statement that waits for fresh evidence after a stall is cancelled, and its server never gets it', async () => {
  lab.proxy.close();
  // The first one is that of the connect.
  const probes = [Promise.resolve()];
  const { promise: later, resolve: goOn } = Promise.withResolvers<void>();
  const freshen = (): Promise<void> => probes.pop() ?? later;
  lab = await startProxyLab({ clock, freshen, table: { write: { open: { 'pg-1': one.address } } } });
  const client = await aSession(one, backendKeyData(42, SECRET));
  const [sent, read] = [one.last().received().length, client.received().length];
  lab.proxy.stalled(clock.now(), 60_000);
  client.socket.write(QUERY);
  await cancel('write', aCancelOf(42, SECRET));
  await until('the answer', () => client.received().length > read);
  expect(errorFields(client.received().subarray(read))).toMatchObject({ S: 'ERROR', C: '57014' });
  goOn();
  client.socket.write(TERMINATE);
  await until('the next bytes', () => one.connections[0]?.received().length !== sent);
  expect(one.connections[0]?.received().subarray(sent)).toEqual(TERMINATE);
});
