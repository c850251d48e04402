// Sessions in plain text with a branch behind TLS: the first reply of the server, whatever its pieces.
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTlsBackend } from '../../../support/fakes/tls-backend.ts';
import type { TlsBackend } from '../../../support/fakes/tls-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import {
  AUTHENTICATION_OK,
  AUTHENTICATION_SASL,
  QUERY,
  TERMINATE,
  aMessage,
  aNumber,
  errorOf,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { foundAt } from '../../../support/values/branches.ts';
import { tlsFile } from '../../../support/values/tls-files.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const OFFER = aMessage('R', Buffer.concat([aNumber(10), Buffer.from('SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0')]));
const FIRST = Buffer.from('n,,n=,r=nonce');
const CHOICE = aMessage('p', Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), aNumber(FIRST.length), FIRST]));
const STARTUP = aStartup({ user: 'app', database: 'shop@pr-1' });
const FORWARDED = aStartup({ user: 'app', database: 'shop' });
const STARTING = errorOf(['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up']);

let clock: ManualClock;
let backend: TlsBackend;
let lab: ProxyLab;

beforeEach(async () => {
  clock = new ManualClock();
  backend = await startTlsBackend();
  const { backend: at, ...found } = foundAt(backend.address);
  lab = await startProxyLab({
    clock,
    branchCaFile: tlsFile('ca.pem'),
    locateBranch: () => ({ ...found, backend: { ...at, tls: 'require' } }),
  });
});

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
  await backend.stop();
  expect(lab.reasons()).not.toContain('internal_error');
});

/** A client that has sent these bytes, and its backend once it has the startup packet. */
async function connect(bytes: Buffer = STARTUP): Promise<{ readonly client: RawClient; readonly server: RawClient }> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(bytes);
  return { client, server: await started(1) };
}

async function started(attempt: number): Promise<RawClient> {
  const server = await until('a handshake', () => backend.connections[attempt - 1]);
  await until('the startup packet', () => server.received().equals(FORWARDED));
  return server;
}

async function sendInPieces({ socket }: RawClient, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    await new Promise<void>((resolve) => {
      socket.write(Uint8Array.of(byte), () => setImmediate(resolve));
    });
  }
}

async function receives(who: RawClient, ...bytes: readonly Buffer[]): Promise<void> {
  const whole = Buffer.concat(bytes);
  await until('these bytes', () => who.received().length >= whole.length);
  expect(who.received()).toEqual(whole);
}

test('G7: an offer in single bytes arrives without channel binding, and nothing else changes', async () => {
  const { client, server } = await connect();
  await sendInPieces(server, OFFER);
  await receives(client, AUTHENTICATION_SASL);
  client.socket.write(CHOICE);
  await receives(server, FORWARDED, CHOICE);
  // Only the first offer of a session is a server's own: later bytes may be a user's.
  server.socket.write(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I'), OFFER]));
  await receives(client, AUTHENTICATION_SASL, AUTHENTICATION_OK, readyForQuery('I'), OFFER);
  client.socket.write(QUERY);
  await receives(server, FORWARDED, CHOICE, QUERY);
  client.socket.end(TERMINATE);
  await receives(server, FORWARDED, CHOICE, QUERY, TERMINATE);
  server.socket.end();
  await until('the close', () => lab.closed().length === 1);
  expect(lab.reasons()).toEqual(['client_closed']);
});

test('bytes behind the offer come with it', async () => {
  const { client, server } = await connect();
  const notice = errorOf(['SNOTICE', 'C00000', 'Mhello'], 'N');
  server.socket.write(Buffer.concat([notice, OFFER, notice]));
  await receives(client, notice, AUTHENTICATION_SASL, notice);
  client.socket.destroy();
  await until('the end', () => server.isClosed || server.hasEnded);
});

test('the bytes that a client sends behind its startup packet wait for the request of the server', async () => {
  const { client, server } = await connect(Buffer.concat([STARTUP, QUERY]));
  server.socket.write(AUTHENTICATION_OK);
  await receives(server, FORWARDED, QUERY);
  await receives(client, AUTHENTICATION_OK);
  client.socket.destroy();
  await until('the end', () => server.isClosed || server.hasEnded);
});

test('an error of the server arrives as it is', async () => {
  const { client, server } = await connect();
  const error = errorOf(['SFATAL', 'VFATAL', 'C28000', 'Mno pg_hba.conf entry']);
  await sendInPieces(server, error);
  server.socket.end();
  await receives(client, error);
  await until('the end', () => client.hasEnded);
  client.socket.end();
  await until('the close', () => lab.closed().length === 1);
});

test('a server that is starting, in single bytes: the client waits, and gets the next attempt', async () => {
  const { client, server } = await connect();
  await sendInPieces(server, STARTING);
  await until('the pause', () => lab.proxy.counts().get('branches')?.states.holding === 1);
  await clock.advance(200);
  const next = await started(2);
  next.socket.write(OFFER);
  await receives(client, AUTHENTICATION_SASL);
  expect(server.isClosed || server.hasEnded).toBe(true);
  client.socket.destroy();
  await until('the end', () => next.isClosed || next.hasEnded);
});

test('half an offer and then silence: the attempt ends in time, and the client waits for the next one', async () => {
  const { client, server } = await connect();
  server.socket.write(OFFER.subarray(0, 12));
  await clock.advance(5_000);
  await until('the pause', () => lab.proxy.counts().get('branches')?.states.holding === 1);
  expect(client.received().length).toBe(0);
  await clock.advance(200);
  const next = await started(2);
  next.socket.write(OFFER);
  await receives(client, AUTHENTICATION_SASL);
  client.socket.destroy();
  await until('the end', () => next.isClosed || next.hasEnded);
});

test.each([
  ['ends without the closing alert of TLS', (carrier: Socket) => carrier.end(), 'backend_closed'],
  ['resets the connection', (carrier: Socket) => carrier.resetAndDestroy(), 'backend_reset'],
] as const)('a server that %s between two transactions: the client reads why', async (_, end, reason) => {
  const { client, server } = await connect();
  const greeting = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
  server.socket.write(greeting);
  await receives(client, greeting);
  const [carrier] = backend.carriers;
  if (carrier === undefined) throw new Error('no connection');
  end(carrier);
  const error = await until('the error', () => errorFields(client.received().subarray(greeting.length)));
  expect(error).toMatchObject({ S: 'FATAL', M: expect.stringContaining(reason) });
  client.socket.end();
  await until('the close', () => lab.closed().length === 1);
  expect(lab.reasons()).toEqual([reason]);
});

test('a client that is reset takes its connection along, with a reset', async () => {
  const { client, server } = await connect();
  server.socket.write(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  await until('the greeting', () => client.received().length > 0);
  client.socket.resetAndDestroy();
  await until('the reset', () => server.wasReset);
  expect(lab.reasons()).toEqual(['client_reset']);
});

test('a client that leaves before the offer takes its connection along', async () => {
  const { client, server } = await connect();
  client.socket.destroy();
  await until('the end', () => server.isClosed || server.hasEnded);
  expect(lab.reasons()).toEqual(['client_gave_up']);
});
