// A session between connect and relay, at a server that a test plays: each way in which its login ends there, and what
// its client, its server and the log read.
import { queryObjects } from 'node:v8';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Arriving } from '../../../../src/proxy/arriving.ts';
import { startTlsBackend } from '../../../support/fakes/tls-backend.ts';
import type { TlsBackend } from '../../../support/fakes/tls-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { AUTHENTICATION_OK, QUERY, aMessage, aNumber, readyForQuery } from '../../../support/sockets/messages.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { SERVER_TLS } from '../../../support/values/tls-files.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const OFFER = aMessage('R', Buffer.concat([aNumber(10), Buffer.from('SCRAM-SHA-256\0\0')]));
const PASSWORD = aMessage('R', aNumber(3));
const DRAINED = { kind: 'leave', cause: 'operator', why: { code: 'drained', since: 0 } } as const;
const FIRST = Buffer.from('n,,n=,r=nonce');
const CHOICE = aMessage('p', Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), aNumber(FIRST.length), FIRST]));
const FROM_AFAR = 'PROXY TCP4 192.0.2.7 198.51.100.1 56324 5432\r\n';
const STARTUP = aStartup({ user: 'app', database: 'shop' });

let clock: ManualClock;
let backend: TlsBackend;
let lab: ProxyLab;

beforeEach(async () => {
  clock = new ManualClock();
  backend = await startTlsBackend();
  lab = await startProxyLab({
    clock,
    proxyNetworks: ['127.0.0.0/8'],
    backend: { tls: SERVER_TLS },
    table: { write: { open: { 'pg-1': backend.address } }, read: { open: { 'pg-1': backend.address } } },
  });
});

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
  await backend.stop();
  expect(lab.reasons()).not.toContain('internal_error');
});

/** The client, and its server, which has asked it for a login with these bytes. */
async function asked(
  request: Buffer,
  pool = 'write',
): Promise<{ readonly client: RawClient; readonly server: RawClient }> {
  const client = await connectRaw(lab.address(pool));
  client.socket.write(Buffer.concat([Buffer.from(FROM_AFAR), STARTUP]));
  const server = await until('a handshake', () => backend.connections[0]);
  await until('the startup packet', () => server.received().equals(STARTUP));
  server.socket.write(request);
  return { client, server };
}

async function gets(who: RawClient, bytes: Buffer): Promise<void> {
  await until('these bytes', () => who.received().equals(bytes));
}

async function isRefused(
  client: RawClient,
  reason: string,
  sqlState: string,
  before: Buffer = Buffer.alloc(0),
): Promise<void> {
  const fields = await until('the error', () => errorFields(client.received().subarray(before.length)));
  expect(fields).toMatchObject({ C: sqlState, M: expect.stringContaining(`(${reason})`) });
  await until('the end', () => client.hasEnded);
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual([reason]);
  expect(backend.connections[0]?.received()).toEqual(STARTUP);
}

test('G9: password_unencrypted: a client from another host is not asked for its password', async () => {
  await isRefused((await asked(PASSWORD)).client, 'password_unencrypted', '28000');
});

test('G9: login_malformed: nothing of the message goes to the server', async () => {
  const { client } = await asked(OFFER);
  await gets(client, OFFER);
  client.socket.write(QUERY);
  await isRefused(client, 'login_malformed', '08P01', OFFER);
});

test('G9: server_unproven: a server that lets a client in without the login that it has asked for', async () => {
  const { client, server } = await asked(OFFER);
  await gets(client, OFFER);
  server.socket.write(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  await isRefused(client, 'server_unproven', '28000', OFFER);
});

test('a server that closes during the login: its client reads so, and its member is probed', async () => {
  const { client, server } = await asked(OFFER);
  await gets(client, OFFER);
  server.socket.end();
  await isRefused(client, 'backend_refused', '57P03', OFFER);
  expect(lab.triggers).toContainEqual({ kind: 'backend_closed', member: 'pg-1' });
});

test('a member that loses its role during a login: its client does not begin anew at another one', async () => {
  const { client } = await asked(OFFER);
  await gets(client, OFFER);
  lab.decide({ write: { others: { 'pg-1': { address: backend.address, standing: DEMOTED } } } });
  await isRefused(client, 'connect_failed', '08006', OFFER);
});

test('a member that is drained during a login: its client logs in, and the drain waits for it', async () => {
  const { client, server } = await asked(OFFER, 'read');
  await gets(client, OFFER);
  lab.decide({ read: { others: { 'pg-1': { address: backend.address, standing: DRAINED } } } });
  client.socket.write(CHOICE);
  await gets(server, Buffer.concat([STARTUP, CHOICE]));
  server.socket.write(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  await gets(client, Buffer.concat([OFFER, AUTHENTICATION_OK, readyForQuery('I')]));
  expect(lab.reasons()).toEqual([]);
});

test.each([
  ['in order', 'client_closed', (client: RawClient) => client.socket.end()],
  ['with a reset', 'client_reset', (client: RawClient) => client.socket.resetAndDestroy()],
])('a client that leaves %s: so does its session', async (_, reason, leave) => {
  const { client, server } = await asked(OFFER);
  await gets(client, OFFER);
  leave(client);
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual([reason]);
  await until('the end', () => server.hasEnded || server.isClosed);
});

test('an operator ends the session, and the program stops: its client reads so', async () => {
  const { client } = await asked(OFFER);
  await gets(client, OFFER);
  const { sessions } = await lab.proxy.sessions({ limit: 1 });
  expect(sessions).toMatchObject([{ state: 'dialing', member: 'pg-1', client: '192.0.2.7:56324' }]);
  await lab.proxy.kill(sessions[0]?.id ?? 0);
  await isRefused(client, 'killed_by_operator', '57P01', OFFER);
});

test('a server that asks for no login: what the client sent behind its startup packet follows it', async () => {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(Buffer.concat([Buffer.from(FROM_AFAR), STARTUP, QUERY]));
  client.socket.end();
  const server = await until('a handshake', () => backend.connections[0]);
  server.socket.write(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  await gets(server, Buffer.concat([STARTUP, QUERY]));
  await gets(client, Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  await until('the end', () => server.hasEnded);
  server.socket.end();
  await until('the close', () => lab.reasons().length === 1);
});

test('a session that is relayed keeps nothing of its arrival', async () => {
  const { client, server } = await asked(AUTHENTICATION_OK);
  server.socket.write(readyForQuery('I'));
  await gets(client, Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  await until('the end of what the arrival has left behind', () => queryObjects(Arriving, { format: 'count' }) === 0);
});
