// Client-side TLS that is ours: who asks gets a handshake, and from there on it is a client like any other.
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ClientTls } from '../../../src/core/policy.ts';
import { startFakeBackend } from '../../support/fake-backend.ts';
import type { FakeBackend } from '../../support/fake-backend.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aPacket, aStartup, errorFields } from '../../support/packets.ts';
import { startProxyLab } from '../../support/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../support/proxy-lab.ts';
import { connectRaw } from '../../support/raw-client.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { beginTls, connectDirect, connectTls, over } from '../../support/tls-client.ts';
import { SERVER, tlsText } from '../../support/tls-files.ts';
import { until } from '../../support/until.ts';

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
  await Promise.all([one.stop(), two.stop()]);
  const { states } = lab.proxy.counts().get('write') ?? {};
  expect(Object.values(states ?? {})).toEqual([0, 0, 0, 0, 0]);
  expect(lab.reasons()).not.toContain('internal-error');
});

async function start(mode: 'terminate' | 'require' = 'terminate', options: ProxyLabOptions = {}): Promise<void> {
  const table = { write: { open: { 'pg-1': one.address } }, read: { open: { 'pg-2': two.address } } };
  const tls: ClientTls = { mode, ...SERVER };
  lab = await startProxyLab({ clock, table, ...options, client: { tls, ...options.client } });
}

function at() {
  return lab.address('write');
}

async function reasonOf(client: RawClient): Promise<unknown> {
  await until('the end', () => lab.closed().length > 0);
  client.socket.destroy();
  return lab.closed().map(({ reason, detail }) => [reason, detail])[0];
}

async function untilHeard(backend: FakeBackend, ...bytes: readonly Uint8Array[]): Promise<void> {
  const whole = Buffer.concat(bytes);
  await until('these bytes', () => backend.connections.at(-1)?.received().equals(whole));
}

test('SSLRequest: the handshake is ours, and what is inside is read: the target leads elsewhere', async () => {
  await start();
  const client = await connectTls(at());
  expect(client.socket.authorized).toBe(true);
  expect(client.socket.getProtocol()).toBe('TLSv1.3');
  expect(one.connections).toHaveLength(0);
  client.socket.write(aStartup({ user: 'u', database: 'app@ro' }));
  await untilHeard(two, aStartup({ user: 'u', database: 'app' }));
  two.last().socket.write('and so on');
  await until('the answer', () => client.received().toString() === 'and so on');
  expect(lab.events.find(({ kind }) => kind === 'session-opened')).toMatchObject({ user: 'u', database: 'app' });
});

test('direct TLS with ALPN', async () => {
  await start();
  const client = await connectDirect(at());
  expect(client.socket.alpnProtocol).toBe('postgresql');
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
});

test('TLS 1.2 is the least, and is enough', async () => {
  await start();
  const client = await connectTls(at(), { maxVersion: 'TLSv1.2' });
  expect(client.socket.getProtocol()).toBe('TLSv1.2');
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
});

test('direct TLS without ALPN is refused after the handshake, as PostgreSQL does', async () => {
  await start();
  const client = await connectDirect(at(), { ALPNProtocols: [] });
  expect(await reasonOf(client)).toEqual(['tls-failed', 'direct TLS without ALPN postgresql']);
  expect(client.received()).toHaveLength(0);
});

test.each([
  ['another protocol by ALPN', { ALPNProtocols: ['h2'] }, 'no application protocol'],
  [
    'a version of TLS that is too old',
    { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    'unsupported protocol',
  ],
] as const)('%s: the handshake fails, with one reason', async (_, options, why) => {
  await start();
  const client = await beginTls(at(), { ...options, ...('ALPNProtocols' in options ? { ALPNProtocols: ['h2'] } : {}) });
  expect(await reasonOf(client)).toEqual(['tls-failed', why]);
});

test('a client that does not trust the certificate says so or leaves', async () => {
  await start();
  const client = await beginTls(at(), { ca: tlsText('other-ca.pem') });
  expect(await reasonOf(client)).toEqual(['tls-failed', expect.stringMatching(/unknown ca|left during the handshake/)]);
});

test.each([
  ['ends', (client: RawClient) => client.socket.end()],
  ['resets', (client: RawClient) => client.socket.resetAndDestroy()],
])('a client that %s in the handshake', async (_, leaves) => {
  await start();
  const client = await connectRaw(at());
  client.socket.write(SSL_REQUEST);
  await until('S', () => client.received().toString() === 'S');
  leaves(client);
  expect(await reasonOf(client)).toEqual(['tls-failed', 'the client left during the handshake']);
});

test('the end of the process ends a handshake under way', async () => {
  await start();
  const client = await connectRaw(at());
  client.socket.write(SSL_REQUEST);
  await until('S', () => client.received().toString() === 'S');
  lab.proxy.close();
  await until('the end', () => client.hasEnded || client.isClosed);
  expect(lab.reasons()).toEqual(['shutdown']);
});

test('a client that leaves after the handshake without a word is none that failed', async () => {
  await start();
  const client = await connectTls(at());
  client.socket.end();
  expect(await reasonOf(client)).toEqual(['client-gave-up', undefined]);
});

test('scenario 34: a probe that connects and leaves is silent as ever', async () => {
  await start();
  const client = await connectRaw(at());
  client.socket.end();
  expect(await reasonOf(client)).toEqual(['no-startup', undefined]);
});

test('plain text is accepted still, and may ask for GSS first', async () => {
  await start();
  const client = await connectRaw(at());
  client.socket.write(GSSENC_REQUEST);
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
  expect(one.connections).toHaveLength(1);
});

test('scenario 31: GSSENCRequest is declined, then SSLRequest accepted', async () => {
  await start();
  const carrier = await connectRaw(at());
  carrier.socket.write(GSSENC_REQUEST);
  await until('N', () => carrier.received().toString() === 'N');
  carrier.socket.write(SSL_REQUEST);
  await until('S', () => carrier.received().toString() === 'NS');
  const client = over(carrier);
  await once(client.socket, 'secureConnect');
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
});

test('scenario 31: GSSENCRequest twice is an unsupported protocol', async () => {
  await start();
  const client = await connectRaw(at());
  client.socket.write(GSSENC_REQUEST);
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(GSSENC_REQUEST);
  const error = await until('the error', () => errorFields(client.received().subarray(1)));
  expect(error).toMatchObject({ C: '0A000', M: expect.stringContaining('(unsupported-protocol)') });
});

test.each([
  ['SSLRequest', SSL_REQUEST],
  ['GSSENCRequest', GSSENC_REQUEST],
])('scenario 31: %s inside TLS is an unsupported protocol', async (_, request) => {
  await start();
  const client = await connectTls(at());
  client.socket.write(request);
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '0A000' });
});

test('scenario 31: inside direct TLS each request is declined once', async () => {
  await start();
  const client = await connectDirect(at());
  for (const [request, heard] of [
    [SSL_REQUEST, 'N'],
    [GSSENC_REQUEST, 'NN'],
  ] as const) {
    client.socket.write(request);
    await until(heard, () => client.received().toString() === heard);
  }
  client.socket.write(SSL_REQUEST);
  expect(await until('the error', () => errorFields(client.received().subarray(2)))).toMatchObject({ C: '0A000' });
});

test('TLS inside TLS is not PostgreSQL, and the error comes in the encryption that there is', async () => {
  await start();
  const client = await connectTls(at());
  client.socket.write(Uint8Array.of(0x16, 3, 1));
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
    C: '08P01',
    D: 'TLS inside TLS',
  });
});

test('what PostgreSQL is to judge goes there as it is: another protocol', async () => {
  await start();
  const client = await connectTls(at());
  client.socket.write(aPacket(0x00020000, Buffer.alloc(288)));
  await untilHeard(one, aPacket(0x00020000, Buffer.alloc(288)));
});

test('require: plain text is refused with what to do', async () => {
  await start('require');
  const client = await connectRaw(at());
  client.socket.write(aStartup());
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
    S: 'FATAL',
    C: '28000',
    M: 'pointsman: connections without TLS are not accepted here (tls-required)',
    H: expect.stringContaining('sslmode=require'),
  });
  client.socket.end();
  expect(await reasonOf(client)).toEqual(['tls-required', 'the startup message came in plain text']);
  expect(one.connections).toHaveLength(0);
});

test.each([
  ['SSLRequest', connectTls],
  ['direct TLS', connectDirect],
])('require: %s is served', async (_, connect) => {
  await start('require');
  const client = await connect(at());
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
});

test('one deadline covers request, handshake and startup message', async () => {
  await start();
  const [shaking, silent] = [await connectRaw(at()), await connectTls(at())];
  await clock.advance(6_000);
  shaking.socket.write(SSL_REQUEST);
  await until('S', () => shaking.received().toString() === 'S');
  await clock.advance(4_000);
  await until('the close', () => shaking.isClosed || shaking.hasEnded);
  expect(shaking.received().toString()).toBe('S');
  expect(await until('the error', () => errorFields(silent.received()))).toMatchObject({
    C: '08P01',
    M: expect.stringContaining('(startup-timeout)'),
  });
  silent.socket.end();
  await until('both', () => lab.reasons().length === 2);
  expect(lab.reasons()).toEqual(['startup-timeout', 'startup-timeout']);
});
