import { Client, DatabaseError } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aPacket, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('polite');
  clock = new ManualClock();
});

afterEach(() => lab.end(backend));

async function startClosed(maxSessions = 100): Promise<void> {
  lab = await startProxyLab({ clock, client: { maxSessions }, table: { write: { otherwise: 'closed' } } });
}

async function startOpen(maxSessions = 100): Promise<void> {
  const table = { write: { open: { 'pg-1': backend.address } } };
  lab = await startProxyLab({ clock, client: { maxSessions }, table });
}

test.each([
  ['in plain text', false],
  ['that would rather have TLS', { rejectUnauthorized: false }],
])('a driver %s shows the error', async (_, ssl) => {
  await startClosed();
  const client = new Client({ ...lab.address('write'), user: 'app', database: 'shop', ssl });
  client.on('error', () => {});
  const error: unknown = await client.connect().catch((caught: unknown) => caught);
  if (ssl === false) {
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error).toMatchObject({
      code: '57P03',
      message: 'pointsman: no primary available for pool "write" (no_route)',
      detail: 'members: none',
    });
  } else {
    // node-postgres gives up at N; libpq goes on in plain text and reads the error.
    expect(String(error)).toContain('does not support SSL');
  }
});

test('each kind of negotiation is answered N once, and the error follows the startup message', async () => {
  await startClosed();
  const client = await connectRaw(lab.address('write'));
  client.socket.write(GSSENC_REQUEST);
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(SSL_REQUEST);
  await until('N', () => client.received().toString() === 'NN');
  client.socket.write(aStartup());
  const error = await until('the error', () => errorFields(client.received().subarray(2)));
  expect(error['C']).toBe('57P03');
});

test('endless negotiation gets the error', async () => {
  await startClosed();
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(Buffer.concat(Array.from({ length: 10_000 }, () => SSL_REQUEST)));
  const error = await until('the error', () => errorFields(client.received().subarray(1)));
  expect(error['C']).toBe('57P03');
});

test('direct TLS gets an alert', async () => {
  await startClosed();
  const client = await connectRaw(lab.address('write'));
  client.socket.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05]));
  await until('the alert', () => client.received().length === 7);
  expect(client.received()[0]).toBe(0x15);
});

test('a refused client that sends on can still read the reason, and is cut off at the deadline', async () => {
  await startClosed();
  const client = await connectRaw(lab.address('write'));
  client.socket.write(Buffer.concat([aStartup(), Buffer.alloc(100_000)]));
  await until('the end', () => client.hasEnded);
  expect(errorFields(client.received())).toMatchObject({ C: '57P03' });
  expect(lab.reasons()).toEqual([]);
  await clock.advance(5_000);
  expect(lab.reasons()).toEqual(['no_route']);
});

test('scenario 34: HTTP gets an answer that explains this port', async () => {
  await startOpen();
  const answer = await fetch(`http://127.0.0.1:${lab.address('write').port}/health`);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('PostgreSQL protocol');
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['not_postgres']);
});

test.each([
  ['garbage', Buffer.from('hello, is anybody there?')],
  ['an over-long startup packet', Buffer.from([0, 0, 0x27, 0x15, 0, 3, 0, 0])],
  ['a cancel request without a key', aPacket(80877102, Buffer.alloc(4))],
])('%s is refused as a protocol violation', async (_, bytes) => {
  await startOpen();
  const client = await connectRaw(lab.address('write'));
  client.socket.end(bytes);
  await until('the end', () => client.isClosed);
  expect(errorFields(client.received())).toMatchObject({
    C: '08P01',
    M: expect.stringContaining('(not_postgres)'),
    D: expect.stringContaining('invalid length'),
  });
});

test('scenario 33: half a startup packet and an end: an error says so', async () => {
  await startOpen();
  const client = await connectRaw(lab.address('write'));
  client.socket.end(aStartup().subarray(0, 20));
  await until('the end', () => client.isClosed);
  expect(errorFields(client.received())).toMatchObject({ C: '08P01', D: 'incomplete startup packet' });
});

test('scenario 34: a load balancer’s probe causes no log line', async () => {
  await startOpen();
  const polite = await connectRaw(lab.address('write'));
  polite.socket.end();
  await until('its end', () => lab.reasons().length === 1);
  await until('its close', () => polite.isClosed);
  const rude = await connectRaw(lab.address('write'));
  rude.socket.resetAndDestroy();
  await until('the end of the other', () => lab.reasons().length === 2);
  expect(lab.reasons()).toEqual(['no_startup', 'no_startup']);
  expect(polite.received().length).toBe(0);
  expect(backend.connections.length).toBe(0);
});

test('scenario 33: one deadline covers the startup, however often a byte arrives', async () => {
  await startOpen();
  const client = await connectRaw(lab.address('write'));
  for (const byte of aStartup().subarray(0, 9)) {
    client.socket.write(Buffer.of(byte));
    await clock.advance(1_000);
  }
  expect(client.received().length).toBe(0);
  await clock.advance(1_000);
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '08P01', M: expect.stringContaining('(startup_timeout)') });
});

test('over the limit: an error after the startup message, and a slot that comes free is used', async () => {
  await startOpen(1);
  const first = await connectRaw(lab.address('write'));
  first.socket.write(aStartup());
  await until('the session', () => first.received().length > 0);
  const second = await connectRaw(lab.address('write'));
  second.socket.write(SSL_REQUEST);
  await until('N', () => second.received().toString() === 'N');
  second.socket.write(aStartup());
  const error = await until('the error', () => errorFields(second.received().subarray(1)));
  expect(error).toMatchObject({ C: '53300', D: 'the limit of 1 sessions is reached' });
  first.socket.resetAndDestroy();
  await until('the end', () => lab.reasons().includes('client_reset'));
  const third = await connectRaw(lab.address('write'));
  third.socket.write(aStartup());
  await until('the session', () => backend.open() === 1);
});

test('scenario 42: far over the limit: an unread client still gets the error, is cut off, and counted', async () => {
  await startOpen(1);
  const clients: RawClient[] = [];
  for (let count = 0; count < 260; count += 1) clients.push(await connectRaw(lab.address('write')));
  await until('those cut off', () => lab.reasons().length === 3);
  expect(new Set(lab.reasons())).toEqual(new Set(['too_many_sessions']));
  expect(lab.proxy.counts().get('write')).toMatchObject({ accepted: 260, closed: 3 });
  const told = await until('their errors', () => {
    const errors = clients.map((client) => errorFields(client.received())).filter((error) => error !== undefined);
    return errors.length === 3 && errors;
  });
  for (const error of told) expect(error).toMatchObject({ C: '53300', D: 'the limit of 1 sessions is reached' });
  for (const { socket } of clients) socket.destroy();
  await until('all gone', () => lab.proxy.counts().get('write')?.closed === 260);
});
