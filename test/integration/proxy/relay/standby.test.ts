// A session for writes at a server that reports to be in recovery. Such a server is not the primary, for any answer of
// its API.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  backendKeyData,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

const KEY = backendKeyData(7, Buffer.from([1, 2, 3, 4]));
const STANDBY = parameterStatus('in_hot_standby', 'on');
const LANDED = { kind: 'landed_on_standby', member: 'pg-1', isPooler: false };

beforeEach(async () => {
  backend = await startFakeBackend('silent');
  clock = new ManualClock();
});

afterEach(() => lab.end(backend));

async function aClient(pool = 'write'): Promise<RawClient> {
  const client = await lab.connect(pool);
  await until('the startup', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  return client;
}

async function start(): Promise<void> {
  const open = { 'pg-1': backend.address };
  lab = await startProxyLab({ clock, table: { write: { open }, read: { open } } });
}

test('the client reads this reason instead of the server’s answer, and the member loses trust', async () => {
  await start();
  const client = await aClient();
  backend.last().socket.write(Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY, readyForQuery('I')]));
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({
    S: 'FATAL',
    C: '57P03',
    M: 'pointsman: the server of pool "write" is a standby (landed_on_standby)',
    D: 'pg-1: in_hot_standby is on',
  });
  expect(lab.triggers).toContainEqual(LANDED);
  await until('the reset', () => backend.last().isClosed);
  expect(backend.last().wasReset).toBe(true);
  expect(lab.proxy.counts().get('write')).toMatchObject({ members: new Map(), states: { closing: 1 } });
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'landed_on_standby', member: 'pg-1', toClientBytes: 0 }]);
});

test('the same after an authentication, whose messages were all relayed', async () => {
  await start();
  const client = await aClient();
  backend.last().socket.write(AUTHENTICATION_SASL);
  await until('the question', () => client.received().equals(AUTHENTICATION_SASL));
  backend.last().socket.write(Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY]));
  const error = await until('the error', () => errorFields(client.received().subarray(AUTHENTICATION_SASL.length)));
  expect(error).toMatchObject({ C: '57P03' });
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
});

test('a client that has half a message gets no error', async () => {
  await start();
  const client = await aClient();
  const answer = Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY]);
  backend.last().socket.write(answer.subarray(0, 15));
  await until('a part', () => client.received().length === 15);
  backend.last().socket.write(answer.subarray(15));
  await until('the end', () => client.isClosed || client.hasEnded);
  expect(lab.reasons()).toEqual(['landed_on_standby']);
  expect(client.received().length).toBe(15);
  expect(lab.triggers).toContainEqual(LANDED);
});

test.each([
  ['of a pooler', backendKeyData(-7, Buffer.alloc(4)), true],
  ['of a server', KEY, false],
])('the key %s comes later than the report: it tells which of the two has reported', async (_, key, isPooler) => {
  await start();
  const client = await aClient();
  const { socket } = backend.last();
  socket.write(AUTHENTICATION_OK);
  await until('the first part', () => client.received().equals(AUTHENTICATION_OK));
  socket.write(STANDBY);
  // The proxy reads the report before it accepts a later client.
  const other = await lab.connect('write');
  await until('the other client', () => backend.connections.length === 2);
  expect(lab.triggers).toEqual([]);
  socket.write(Buffer.concat([key, readyForQuery('I')]));
  const error = await until('the error', () => errorFields(client.received().subarray(AUTHENTICATION_OK.length)));
  expect(error).toMatchObject({ M: 'pointsman: the server of pool "write" is a standby (landed_on_standby)' });
  expect(lab.triggers).toEqual([{ ...LANDED, isPooler }]);
  for (const { socket: left } of [client, other]) left.destroy();
  await until('the close', () => lab.reasons().length === 2);
});

test('a server that closes behind its report', async () => {
  await start();
  const client = await aClient();
  backend.last().socket.end(Buffer.concat([AUTHENTICATION_OK, STANDBY]));
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ D: 'pg-1: in_hot_standby is on' });
  expect(lab.triggers).toEqual([LANDED]);
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
});

test('a client that does not leave is cut off', async () => {
  await start();
  const client = await aClient();
  backend.last().socket.write(Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY]));
  await until('the end', () => client.hasEnded);
  expect(lab.reasons()).toEqual([]);
  await clock.advance(5_000);
  await until('the close', () => lab.reasons().length === 1);
});

test.each([
  ['a primary', 'write', parameterStatus('in_hot_standby', 'off')],
  ['a server that does not report its role', 'write', parameterStatus('TimeZone', 'UTC')],
  ['a standby of a pool for reads', 'read', STANDBY],
])('%s is relayed', async (_, pool, status) => {
  await start();
  const client = await aClient(pool);
  const answer = Buffer.concat([AUTHENTICATION_OK, status, KEY, readyForQuery('I')]);
  backend.last().socket.write(answer);
  await until('the answer', () => client.received().equals(answer));
  expect(lab.triggers).not.toContainEqual(LANDED);
});

test('the leader of a standby cluster is a standby by right', async () => {
  const open = { 'pg-1': backend.address };
  const pools = [aPool({ name: 'write', exclusive: true, check: '/standby-leader' })];
  lab = await startProxyLab({ clock, pools, table: { write: { open } } });
  const client = await aClient();
  const answer = Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY, readyForQuery('I')]);
  backend.last().socket.write(answer);
  await until('the answer', () => client.received().equals(answer));
});

test('a member whose answer is known to be stale: its session is relayed unchanged', async () => {
  const sharing = { 'pg-1': { isStandbyReportStale: true } } as const;
  lab = await startProxyLab({ clock, table: { write: { open: { 'pg-1': backend.address }, sharing } } });
  const client = await aClient();
  const answer = Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY, readyForQuery('I')]);
  backend.last().socket.write(answer);
  await until('the answer', () => client.received().equals(answer));
  expect(lab.triggers).toEqual([]);
});

test.each([
  ['with its key', [parameterStatus('in_hot_standby', 'off'), KEY, readyForQuery('I')]],
  ['without a key', [parameterStatus('in_hot_standby', 'off'), readyForQuery('I')]],
])('a client that tries a server finds that it has left recovery, %s', async (_, answer) => {
  const sharing = { 'pg-1': { isTrial: true } } as const;
  lab = await startProxyLab({ clock, table: { write: { open: { 'pg-1': backend.address }, sharing } } });
  const connecting = aClient();
  await until('its turn', () => clock.pending() > 0);
  await clock.advance(1_000);
  const client = await connecting;
  for (const message of [AUTHENTICATION_OK, ...answer]) {
    const before = client.received().length;
    backend.last().socket.write(message);
    await until('the message', () => client.received().length === before + message.length);
  }
  const left = lab.triggers.filter(({ kind }) => kind !== 'clients_held');
  expect(left).toEqual([{ kind: 'left_recovery', member: 'pg-1' }]);
});
