// A session whose TLS ends at the proxy works as any other: it is held, gets errors, is reset, and is cancelled by key.
import { expect, test } from 'vitest';
import { AUTHENTICATION_OK, backendKeyData, readyForQuery } from '../../../support/sockets/messages.ts';
import { aCancelOf, aCancelRequest, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { connectTls } from '../../../support/sockets/tls-client.ts';
import { tlsLab, untilHeard } from '../../../support/labs/tls-lab.ts';
import { until } from '../../../support/waiting/until.ts';

const tls = tlsLab();

test('G17: a cancel finds its session by key, in TLS or in plain text, also where TLS is required', async () => {
  await tls.start('require');
  const session = await connectTls(tls.at());
  session.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  const key = Buffer.alloc(32, 5);
  tls.one.last().socket.write(Buffer.concat([AUTHENTICATION_OK, backendKeyData(7, key), readyForQuery('I')]));
  await until('the key', () => session.received().length > 40);
  const plain = await connectRaw(tls.at());
  plain.socket.write(aCancelOf(7, key));
  await until('the cancel', () => tls.one.connections.length === 2);
  await untilHeard(tls.one, aCancelOf(7, key));
  tls.one.last().socket.destroy();
  const client = await connectTls(tls.at());
  client.socket.write(aCancelOf(7, key));
  await until('the cancel', () => tls.one.connections.length === 3);
  await untilHeard(tls.one, aCancelOf(7, key));
  tls.one.last().socket.end();
  // libpq treats any end but an orderly end of TLS as a failure.
  await until('the end', () => client.hasEnded);
  expect(tls.lab.events.filter(({ kind }) => kind === 'cancel_forwarded')).toMatchObject([
    { key: 'known' },
    { key: 'known' },
  ]);
});

test('a cancel request with an unknown key ends in order too', async () => {
  await tls.start('terminate', { table: {} });
  const client = await connectTls(tls.at());
  client.socket.write(aCancelRequest());
  expect(await tls.reasonOf(client)).toEqual(['cancel_failed', 'the pool has no member to pass it on to']);
});

test('a client in TLS is held for a route, and reads why there is none', async () => {
  await tls.start('terminate', { table: {}, hold: { clientTimeoutMs: 5_000 } });
  const client = await connectTls(tls.at());
  client.socket.write(aStartup());
  await until('the hold', () => tls.lab.proxy.counts().get('write')?.states.holding === 1);
  const late = await connectTls(tls.at());
  late.socket.write(aStartup());
  await until('the hold', () => tls.lab.proxy.counts().get('write')?.states.holding === 2);
  await tls.clock.advance(5_000);
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '57P03' });
  await until('its end', () => client.hasEnded);
});

test('a session in TLS whose server ends without an error gets one, and TLS ends in order', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  const greeting = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
  tls.one.last().socket.end(greeting);
  const error = await until('the error', () => errorFields(client.received().subarray(greeting.length)));
  expect(error).toMatchObject({
    C: '57P01',
    D: expect.stringContaining('connection closed by the server without an error message'),
  });
  await until('the end', () => client.hasEnded);
  client.socket.end();
  await until('the close', () => tls.lab.reasons().length === 1);
  expect(tls.lab.reasons()).toEqual(['backend_closed']);
});

test('a session in TLS between transactions gets the reason of its end', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  const greeting = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
  tls.one.last().socket.write(greeting);
  await until('the greeting', () => client.received().equals(greeting));
  tls.lab.decide({ write: { others: { 'pg-1': { address: tls.one.address, standing: DEMOTED } } } });
  const error = await until('the error', () => errorFields(client.received().subarray(greeting.length)));
  expect(error).toMatchObject({ C: '57P01' });
  await until('the end', () => client.hasEnded);
});

test('a session in TLS in the middle of a message is reset', async () => {
  await tls.start();
  const client = await connectTls(tls.at());
  client.socket.write(aStartup());
  await untilHeard(tls.one, aStartup());
  const greeting = Buffer.concat([AUTHENTICATION_OK, readyForQuery('T')]);
  tls.one.last().socket.write(greeting);
  await until('the greeting', () => client.received().equals(greeting));
  tls.lab.decide({ write: { others: { 'pg-1': { address: tls.one.address, standing: DEMOTED } } } });
  await until('the reset', () => client.isClosed);
  expect(client.wasReset).toBe(true);
  expect(tls.lab.reasons()).toEqual(['evicted_demoted']);
});
