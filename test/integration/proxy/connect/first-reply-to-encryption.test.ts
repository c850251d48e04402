// A client that asks for encryption first. The server answers; after a refusal the client goes on as any other client.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import {
  GSSENC_REQUEST,
  SSL_REQUEST,
  aCancelRequest,
  aStartup,
  errorFields,
} from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';
import { encodeErrorResponse } from '../../../../src/wire/messages/error-response.ts';

let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  [one, two] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  clock = new ManualClock();
});

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
  await until('no connection left', () => everyOneSeesTheEnd(one) && everyOneSeesTheEnd(two));
  await Promise.all([one.stop(), two.stop()]);
});

function everyOneSeesTheEnd({ connections }: FakeBackend): boolean {
  return connections.every(({ isClosed, hasEnded }) => isClosed || hasEnded);
}

async function start(options: ProxyLabOptions = {}): Promise<void> {
  const table = { write: { open: { 'pg-1': one.address } }, read: { open: { 'pg-2': two.address } } };
  lab = await startProxyLab({ clock, table, ...options });
}

/** Sends a request for encryption, and waits until the backend has read it. */
async function ask(backend: FakeBackend, request: Uint8Array = SSL_REQUEST, pool = 'write'): Promise<RawClient> {
  const client = await connectRaw(lab.address(pool));
  const before = backend.connections.length;
  client.socket.write(request);
  await until('the request', () => backend.connections.length === before + 1 && heard(backend).equals(request));
  return client;
}

/** A client whose request for encryption was declined. */
async function aDeclinedClient(backend: FakeBackend = one, pool = 'write'): Promise<RawClient> {
  const client = await ask(backend, SSL_REQUEST, pool);
  backend.last().socket.write('N');
  await until('N', () => client.received().toString() === 'N');
  return client;
}

function heard(backend: FakeBackend): Buffer {
  return backend.last().received();
}

function states(pool = 'write') {
  return lab.proxy.counts().get(pool)?.states;
}

test('after N the startup message goes to the server that declined, without its target', async () => {
  await start();
  const client = await aDeclinedClient();
  expect(states()).toMatchObject({ startup: 1, dialing: 0 });
  expect(lab.proxy.counts().get('write')?.members.size).toBe(0);
  client.socket.write(aStartup({ user: 'u', database: 'app@rw' }));
  const startup = aStartup({ user: 'u', database: 'app' });
  await until('the startup', () => heard(one).equals(Buffer.concat([SSL_REQUEST, startup])));
  one.last().socket.write('and so on');
  await until('the answer', () => client.received().toString() === 'Nand so on');
  expect(one.connections).toHaveLength(1);
  expect(lab.events.filter(({ kind }) => kind === 'dial_finished')).toHaveLength(1);
  const opened = await until('its session', () => lab.events.find(({ kind }) => kind === 'session_opened'));
  expect(opened).toMatchObject({ user: 'u', database: 'app' });
  expect(lab.proxy.counts().get('write')?.toBackendBytes).toBe(startup.length);
});

test.each(['S', 'G', 'E and a very old message\0'])('after %j the stream is opaque to the proxy', async (answer) => {
  await start();
  const client = await ask(one);
  one.last().socket.write(answer);
  await until('the answer', () => client.received().toString() === answer);
  client.socket.write(aStartup({ user: 'u', database: 'app@ro' }));
  const expected = Buffer.concat([SSL_REQUEST, aStartup({ user: 'u', database: 'app@ro' })]);
  await until('its bytes', () => heard(one).equals(expected));
  expect(lab.proxy.counts().get('write')?.toBackendBytes).toBe(expected.length);
});

test.each([
  ['SSLRequest', GSSENC_REQUEST, SSL_REQUEST],
  ['GSSENCRequest', SSL_REQUEST, GSSENC_REQUEST],
])('both requests go to the server that declined the first; a second %s is refused', async (name, first, second) => {
  await start();
  const client = await ask(one, first);
  one.last().socket.write('N');
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(second);
  await until('the second', () => heard(one).length === 16);
  one.last().socket.write('N');
  await until('N', () => client.received().toString() === 'NN');
  client.socket.write(second);
  const error = await until('the error', () => errorFields(client.received().subarray(2)));
  expect(error).toMatchObject({ C: '0A000', D: `${name} had its answer already` });
  expect(heard(one).length).toBe(16);
  expect(one.connections).toHaveLength(1);
});

test('a target elsewhere gets a new connect and the startup message alone; the spare is closed', async () => {
  await start();
  const client = await aDeclinedClient();
  client.socket.write(aStartup({ user: 'u', database: 'app@ro' }));
  await until('the startup', () => two.connections.length === 1 && heard(two).length > 0);
  expect(heard(two).equals(aStartup({ user: 'u', database: 'app' }))).toBe(true);
  await until('the end of the spare', () => one.last().hasEnded || one.last().isClosed);
  expect(heard(one).equals(SSL_REQUEST)).toBe(true);
});

test('a target in which the same member is open keeps the spare', async () => {
  const open = { 'pg-1': one.address };
  await start({ table: { write: { open }, read: { open } } });
  const client = await aDeclinedClient();
  client.socket.write(aStartup({ user: 'u', database: 'app@ro' }));
  await until('the startup', () => heard(one).length > 8);
  expect(one.connections).toHaveLength(1);
  expect(lab.proxy.counts().get('read')?.members).toEqual(new Map([['pg-1', 1]]));
});

const UNASKED = Buffer.concat([SSL_REQUEST, aStartup()]);

test.each(Array.from({ length: 10 }, (_, index) => index))(
  'scenario 32: bytes after the request and before its answer are refused, cut at %i',
  async (cut) => {
    await start();
    const client = await connectRaw(lab.address('write'));
    client.socket.setNoDelay();
    client.socket.write(UNASKED.subarray(0, cut));
    // The backend sees a difference between one byte less than a packet and the packet alone.
    if (cut === 8) await until('the request', () => one.connections.length === 1 && heard(one).length === 8);
    else if (cut > 0) await until('those bytes', () => client.socket.writableLength === 0);
    client.socket.write(UNASKED.subarray(cut));
    const error = await until('the error', () => errorFields(client.received()));
    expect(error).toMatchObject({ C: '08P01', D: 'unencrypted data after the encryption request' });
    client.socket.end();
    await until('the close', () => lab.reasons().length === 1);
    expect(lab.reasons()).toEqual(['not_postgres']);
    expect(one.connections.every((connection) => connection.received().length <= 8)).toBe(true);
  },
);

test('scenario 32: the same for a client that waits for a route', async () => {
  await start({ table: {} });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('the hold', () => states()?.holding === 1);
  client.socket.write('x');
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '08P01' });
});

test('scenario 32: a server that sends more than N is neither shown nor used', async () => {
  await start();
  const client = await ask(one);
  one.last().socket.write('Nand what nobody asked for');
  await until('N', () => client.received().length > 0);
  await until('the end of the spare', () => one.last().isClosed || one.last().hasEnded);
  client.socket.write(aStartup());
  await until('a second connection', () => one.connections.length === 2 && heard(one).equals(aStartup()));
  expect(client.received().toString()).toBe('N');
});

test.each([
  ['speaks', () => one.last().socket.write('unasked')],
  ['closes', () => one.last().socket.end()],
  ['resets', () => one.last().socket.resetAndDestroy()],
])('scenario 32: a spare that %s is replaced when the client goes on', async (_, happens) => {
  await start();
  const client = await aDeclinedClient();
  const spare = one.last();
  happens();
  await until('its end', () => spare.isClosed || spare.hasEnded);
  client.socket.write(aStartup());
  await until('a second connection', () => one.connections.length === 2 && heard(one).equals(aStartup()));
  expect(client.received().toString()).toBe('N');
});

test.each([
  ['ends', (client: RawClient) => client.socket.end()],
  ['resets', (client: RawClient) => client.socket.resetAndDestroy()],
])('a client that %s after N takes the spare with it', async (_, leaves) => {
  await start();
  leaves(await aDeclinedClient());
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['client_gave_up']);
  await until('the end of the spare', () => one.last().hasEnded || one.last().isClosed);
  expect(states()).toMatchObject({ startup: 0, dialing: 0 });
});

test('a member that leaves every pool takes its spares with it, and the client goes where the table says', async () => {
  await start();
  const client = await aDeclinedClient();
  lab.decide({
    write: { open: { 'pg-2': two.address }, others: { 'pg-1': { address: one.address, standing: DEMOTED } } },
  });
  await until('the end of the spare', () => one.last().hasEnded || one.last().isClosed);
  expect(lab.reasons()).toEqual([]);
  client.socket.write(aStartup());
  await until('the startup', () => two.connections.length === 1 && heard(two).equals(aStartup()));
  expect(heard(one).equals(SSL_REQUEST)).toBe(true);
});

test('a pool that closes meanwhile refuses the startup message, and keeps no spare', async () => {
  const open = { 'pg-1': one.address };
  await start({ table: { write: { open }, read: { open } } });
  const client = await aDeclinedClient();
  lab.decide({ write: { otherwise: 'closed' }, read: { open } });
  client.socket.write(aStartup());
  expect(await until('the error', () => errorFields(client.received().subarray(1)))).toMatchObject({ C: '57P03' });
  await until('the end of the spare', () => one.last().hasEnded || one.last().isClosed);
});

test('the process stops: a client that waits with a spare gets an error when it goes on', async () => {
  await start();
  const client = await aDeclinedClient();
  void lab.proxy.drain(60_000);
  client.socket.write(aStartup());
  expect(await until('the error', () => errorFields(client.received().subarray(1)))).toMatchObject({ C: '57P03' });
  await until('the end of the spare', () => one.last().hasEnded || one.last().isClosed);
});

test('one deadline covers all time of the client, before and after the answer', async () => {
  await start();
  const client = await connectRaw(lab.address('write'));
  await until('the accept', () => states()?.startup === 1);
  await clock.advance(6_000);
  client.socket.write(SSL_REQUEST);
  await until('the request', () => one.connections.length === 1 && heard(one).length === 8);
  one.last().socket.write('N');
  await until('N', () => client.received().toString() === 'N');
  await clock.advance(3_999);
  expect(client.received().toString()).toBe('N');
  await clock.advance(1);
  const error = await until('the error', () => errorFields(client.received().subarray(1)));
  expect(error).toMatchObject({ C: '08P01', M: expect.stringContaining('(startup_timeout)') });
  await until('the end of the spare', () => one.last().hasEnded || one.last().isClosed);
});

test('the time a client waits for a route does not count against its deadline', async () => {
  await start({ table: {} });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('the hold', () => states()?.holding === 1);
  await clock.advance(20_000);
  lab.decide({ write: { open: { 'pg-1': one.address } } });
  await until('the request', () => one.connections.length === 1 && heard(one).length === 8);
  one.last().socket.write('N');
  await until('N', () => client.received().toString() === 'N');
  await clock.advance(9_000);
  client.socket.write(aStartup());
  await until('the startup', () => heard(one).length > 8);
});

test('a cancel request after N is passed on, and the spare is closed', async () => {
  await start();
  const session = await connectRaw(lab.address('write'));
  session.socket.write(aStartup());
  await until('a session', () => one.connections.length === 1 && heard(one).length > 0);
  const client = await aDeclinedClient();
  const spare = one.last();
  client.socket.write(aCancelRequest());
  await until('the cancel', () => one.connections.length === 3 && heard(one).equals(aCancelRequest()));
  await until('the end of the spare', () => spare.hasEnded || spare.isClosed);
  one.last().socket.destroy();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['cancel_forwarded']);
});

test('a server that closes without an answer: in an exclusive pool the client gets another attempt', async () => {
  one.behaviour = 'gone';
  await start({ hold: { clientTimeoutMs: 0 } });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('the answer', () => client.received().length > 0);
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(one.connections).toHaveLength(2);
  expect(lab.closed()).toMatchObject([{ reason: 'backend_refused', member: 'pg-1' }]);
  expect(lab.triggers).toContainEqual({ kind: 'backend_closed', member: 'pg-1' });
  await until('the end', () => client.hasEnded);
});

test('the client itself reads the answer of a slow server', async () => {
  await start();
  const client = await ask(one);
  await clock.advance(2_000);
  await until('the relay', () => states()?.relaying === 1);
  one.last().socket.write('S');
  await until('the answer', () => client.received().toString() === 'S');
});

test('a server declines and then shuts down: the client is held for the next one', async () => {
  await start();
  const client = await aDeclinedClient();
  client.socket.write(aStartup());
  await until('the startup', () => heard(one).length > 8);
  lab.decide({});
  one.last().socket.end(encodeErrorResponse({ sqlState: '57P03', message: 'the database system is shutting down' }));
  await until('the hold', () => states()?.holding === 1);
  lab.decide({ write: { open: { 'pg-2': two.address } } });
  await until('the startup', () => two.connections.length === 1 && heard(two).equals(aStartup()));
  expect(client.received().toString()).toBe('N');
});

test('a member that leaves before it answers: the next one gets the request, and the client one answer', async () => {
  await start();
  const client = await ask(one);
  lab.decide({
    write: { open: { 'pg-2': two.address }, others: { 'pg-1': { address: one.address, standing: DEMOTED } } },
  });
  await until('the request', () => two.connections.length === 1 && heard(two).equals(SSL_REQUEST));
  two.last().socket.write('N');
  await until('N', () => client.received().toString() === 'N');
  await until('the end', () => one.last().hasEnded || one.last().isClosed);
});

test('a client takes one round-robin turn, for any number of requests', async () => {
  const open = { 'pg-1': one.address, 'pg-2': two.address };
  await start({ pools: [aWritePool(), aPool({ balance: 'round_robin' })], table: { read: { open } } });
  for (const backend of [one, two, one]) {
    const client = await aDeclinedClient(backend, 'read');
    client.socket.write(aStartup());
    await until('the startup', () => heard(backend).length > 8);
  }
});
