// Client-side TLS that ends at the proxy: a client that requests it gets a handshake, and then works as any other
// client.
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PlainSocket } from '../../../../src/proxy/plain/plain-socket.ts';
import { STARTUPS } from '../../../../src/reports/counts.ts';
import { GSSENC_REQUEST, SSL_REQUEST, aPacket, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { beginTls, connectDirect, connectTls, over } from '../../../support/sockets/tls-client.ts';
import { tlsText } from '../../../support/values/tls-files.ts';
import { tlsLab, untilHeard } from '../../../support/labs/tls-lab.ts';
import { until } from '../../../support/waiting/until.ts';

const tls = tlsLab();

test('SSLRequest: the proxy does the handshake and reads inside it: the target routes elsewhere', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  expect(client.socket.authorized).toBe(true);
  expect(client.socket.getProtocol()).toBe('TLSv1.3');
  expect(tls.one.connections).toHaveLength(0);
  client.socket.write(aStartup({ user: 'u', database: 'app@ro' }));
  await untilHeard(tls.two, aStartup({ user: 'u', database: 'app' }));
  tls.two.last().socket.write('and so on');
  await until('the answer', () => client.received().toString() === 'and so on');
  const opened = await until('its session', () => tls.lab.events.find(({ kind }) => kind === 'session_opened'));
  expect(opened).toMatchObject({ user: 'u', database: 'app' });
});

test('a client that is gone before the answer to its SSLRequest has given up', async () => {
  await tls.start();
  const write = vi.spyOn(PlainSocket.prototype, 'write').mockImplementation(function fails(this: PlainSocket) {
    this.destroy();
    return false;
  });
  onTestFinished(() => write.mockRestore());
  const client = await connectRaw(tls.at());
  client.socket.write(SSL_REQUEST);
  expect(await tls.reasonOf(client)).toEqual(['client_gave_up', undefined]);
});

test('direct TLS with ALPN', async () => {
  await tls.start();
  const client = await connectDirect(tls.at());
  expect(client.socket.alpnProtocol).toBe('postgresql');
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
});

test('TLS 1.2 is the minimum, and is enough', async () => {
  await tls.start();
  const client = await connectTls(tls.at(), { maxVersion: 'TLSv1.2' });
  expect(client.socket.getProtocol()).toBe('TLSv1.2');
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  const { startups } = tls.lab.proxy.clients();
  expect(STARTUPS.filter((_, index) => startups[index] === 1)).toEqual([
    { encryption: 'terminated', tlsVersion: '1.2', protocol: '3.0' },
  ]);
});

test('direct TLS without ALPN is refused after the handshake, as PostgreSQL does', async () => {
  await tls.start();
  const client = await connectDirect(tls.at(), { ALPNProtocols: [] });
  expect(await tls.reasonOf(client)).toEqual(['tls_failed', 'direct TLS without ALPN postgresql']);
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
  await tls.start();
  const client = await beginTls(tls.at(), {
    ...options,
    ...('ALPNProtocols' in options ? { ALPNProtocols: ['h2'] } : {}),
  });
  expect(await tls.reasonOf(client)).toEqual(['tls_failed', why]);
});

test('a client that does not trust the certificate sends an alert or leaves', async () => {
  await tls.start();
  const client = await beginTls(tls.at(), { ca: tlsText('other-ca.pem') });
  expect(await tls.reasonOf(client)).toEqual([
    'tls_failed',
    expect.stringMatching(/unknown ca|left during the handshake/),
  ]);
});

test.each([
  ['ends', (client: RawClient) => client.socket.end()],
  ['resets', (client: RawClient) => client.socket.resetAndDestroy()],
])('a client that %s in the handshake', async (_, leaves) => {
  await tls.start();
  const client = await connectRaw(tls.at());
  client.socket.write(SSL_REQUEST);
  await until('S', () => client.received().toString() === 'S');
  leaves(client);
  expect(await tls.reasonOf(client)).toEqual(['tls_failed', 'the client left during the handshake']);
});

test('the end of the process ends a handshake under way', async () => {
  await tls.start();
  const client = await connectRaw(tls.at());
  client.socket.write(SSL_REQUEST);
  await until('S', () => client.received().toString() === 'S');
  tls.lab.proxy.close();
  await until('the end', () => client.hasEnded || client.isClosed);
  expect(tls.lab.reasons()).toEqual(['shutdown']);
});

test('a client that leaves silently after the handshake is no failed handshake', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.end();
  expect(await tls.reasonOf(client)).toEqual(['client_gave_up', undefined]);
});

test('scenario 34: a probe that connects and leaves causes no log line', async () => {
  await tls.start();
  const client = await connectRaw(tls.at());
  client.socket.end();
  expect(await tls.reasonOf(client)).toEqual(['no_startup', undefined]);
});

test('plain text is still accepted, and may request GSS first', async () => {
  await tls.start();
  const client = await connectRaw(tls.at());
  client.socket.write(GSSENC_REQUEST);
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  expect(tls.one.connections).toHaveLength(1);
});

test('scenario 31: GSSENCRequest is declined, then SSLRequest accepted', async () => {
  await tls.start();
  const carrier = await connectRaw(tls.at());
  carrier.socket.write(GSSENC_REQUEST);
  await until('N', () => carrier.received().toString() === 'N');
  carrier.socket.write(SSL_REQUEST);
  await until('S', () => carrier.received().toString() === 'NS');
  const client = over(carrier);
  await once(client.socket, 'secureConnect');
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
});

test('scenario 31: GSSENCRequest twice is an unsupported protocol', async () => {
  await tls.start();
  const client = await connectRaw(tls.at());
  client.socket.write(GSSENC_REQUEST);
  await until('N', () => client.received().toString() === 'N');
  client.socket.write(GSSENC_REQUEST);
  const error = await until('the error', () => errorFields(client.received().subarray(1)));
  expect(error).toMatchObject({ C: '0A000', M: expect.stringContaining('(unsupported_protocol)') });
});

test.each([
  ['SSLRequest', SSL_REQUEST],
  ['GSSENCRequest', GSSENC_REQUEST],
])('scenario 31: %s inside TLS is an unsupported protocol', async (_, request) => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.write(request);
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '0A000' });
});

test('scenario 31: inside direct TLS each request is declined once', async () => {
  await tls.start();
  const client = await connectDirect(tls.at());
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

test('TLS inside TLS is not PostgreSQL, and the error comes inside the existing encryption', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.write(Uint8Array.of(0x16, 3, 1));
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
    C: '08P01',
    D: 'TLS inside TLS',
  });
});

test('another protocol goes to PostgreSQL unchanged, which judges it', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.write(aPacket(0x00020000, Buffer.alloc(288)));
  await untilHeard(tls.one, aPacket(0x00020000, Buffer.alloc(288)));
});

test('require: plain text is refused, with the remedy', async () => {
  await tls.start('require');
  const client = await connectRaw(tls.at());
  client.socket.write(aStartup());
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({
    S: 'FATAL',
    C: '28000',
    M: 'pointsman: TLS is required (tls_required)',
    H: expect.stringContaining('sslmode=require'),
  });
  client.socket.end();
  expect(await tls.reasonOf(client)).toEqual(['tls_required', 'the startup message arrived without TLS']);
  expect(tls.one.connections).toHaveLength(0);
});

test.each([
  ['SSLRequest', connectTls],
  ['direct TLS', connectDirect],
])('require: %s is served', async (_, connect) => {
  await tls.start('require');
  const client = await connect(tls.at());
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
});

test('one deadline covers request, handshake and startup message', async () => {
  await tls.start();
  const [shaking, silent] = [await connectRaw(tls.at()), await connectTls(tls.at())];
  await tls.clock.advance(6_000);
  shaking.socket.write(SSL_REQUEST);
  await until('S', () => shaking.received().toString() === 'S');
  await tls.clock.advance(4_000);
  await until('the close', () => shaking.isClosed || shaking.hasEnded);
  expect(shaking.received().toString()).toBe('S');
  expect(await until('the error', () => errorFields(silent.received()))).toMatchObject({
    C: '08P01',
    M: expect.stringContaining('(startup_timeout)'),
  });
  silent.socket.end();
  await until('both', () => tls.lab.reasons().length === 2);
  expect(tls.lab.reasons()).toEqual(['startup_timeout', 'startup_timeout']);
});

test('a client that stalls in its handshake frees its slot for the next one', async () => {
  await tls.start('terminate', { client: { maxHandshakes: 1 } });
  const still = await connectRaw(tls.at());
  still.socket.write(SSL_REQUEST);
  await until('S', () => still.received().toString() === 'S');
  // A record of a handshake that never continues.
  still.socket.write(Buffer.from([0x16, 3, 1, 0, 200, 1]));
  await tls.clock.advance(1_000);
  const early = await connectRaw(tls.at());
  await until('its refusal, for the other one has spoken', () => early.hasEnded || early.isClosed);
  await tls.clock.advance(1_000);
  const client = await connectTls(tls.at());
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  await until('the end', () => still.hasEnded || still.isClosed);
  expect(tls.lab.reasons()).toEqual(['too_many_sessions', 'startup_timeout']);
});
