// A server that ends a session: the error that its client reads, the reason that is reported, and the effect on the
// member's health.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { GREETING, GreetedSession } from '../../../support/labs/greeted-session.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { AUTHENTICATION_SASL, DATA_ROW, TERMINATE, errorOf } from '../../../support/sockets/messages.ts';
import { SSL_REQUEST, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('silent');
  clock = new ManualClock();
  lab = await startProxyLab({
    clock,
    client: { maxSessions: 1 },
    table: { write: { open: { 'pg-1': backend.address } } },
  });
});

afterEach(() => lab.end(backend));

function aSession(): Promise<GreetedSession> {
  return GreetedSession.open(lab.address('write'), backend);
}

async function aStartingClient(): Promise<RawClient> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the startup', () => backend.connections.length > 0 && backend.last().chunks.length > 0);
  return client;
}

function fatal(sqlState: string): Buffer {
  return errorOf(['SFATAL', 'VFATAL', `C${sqlState}`, 'Mthe server says so']);
}

function demote(): void {
  lab.decide({ write: { others: { 'pg-1': { address: backend.address, standing: DEMOTED } } } });
}

async function closed({ socket }: RawClient): Promise<void> {
  socket.end();
  await until('the close', () => lab.reasons().length === 1);
}

test.each([
  ['ends', ({ server }: GreetedSession) => server.socket.end()],
  ['is reset', ({ server }: GreetedSession) => server.socket.resetAndDestroy()],
])('a client that sends Terminate has ended its session, also when its server %s first', async (_, end) => {
  const session = await aSession();
  session.client.socket.write(TERMINATE);
  await until('the goodbye', () => session.server.received().subarray(-TERMINATE.length).equals(TERMINATE));
  end(session);
  await until('the end', () => session.client.hasEnded);
  await closed(session.client);
  expect(session.client.received()).toEqual(GREETING);
  expect(lab.reasons()).toEqual(['client_closed']);
  expect(lab.triggers).toEqual([]);
});

test.each(['28P01', '28000', '3D000', '53300', '42501', '0A000', '08P01', '22023', '57P05'])(
  'FATAL %s is about the client: it is relayed, and the member stays trusted',
  async (sqlState) => {
    const client = await aStartingClient();
    backend.last().socket.end(fatal(sqlState));
    await until('the end', () => client.hasEnded);
    expect(client.received()).toEqual(fatal(sqlState));
    await closed(client);
    expect(lab.closed()).toMatchObject([{ reason: 'backend_refused', detail: `pg-1: FATAL ${sqlState}` }]);
    expect(lab.triggers).toEqual([]);
  },
);

test.each(['57P01', '57P02', '53200', '58030', 'XX000'])('FATAL %s is a fault of the server', async (sqlState) => {
  const { client, server } = await aSession();
  server.socket.end(fatal(sqlState));
  await until('the words', () => client.received().equals(Buffer.concat([GREETING, fatal(sqlState)])));
  expect(lab.triggers).toEqual([{ kind: 'backend_closed', member: 'pg-1' }]);
  await closed(client);
  expect(lab.reasons()).toEqual(['backend_closed']);
});

test('the client can read the last bytes of its server, although the member leaves the pool meanwhile', async () => {
  const { client, server } = await aSession();
  server.socket.end(fatal('57P01'));
  await until('the end', () => client.hasEnded);
  demote();
  client.socket.write('a statement that nobody answers');
  await clock.advance(4_999);
  expect(client.isClosed).toBe(false);
  expect(client.received()).toEqual(Buffer.concat([GREETING, fatal('57P01')]));
  await closed(client);
  expect(client.wasReset).toBe(false);
  expect(lab.reasons()).toEqual(['backend_closed']);
});

test('a session that its server has ended takes no slot, and ends when its client does not react', async () => {
  const { client, server } = await aSession();
  server.socket.end(fatal('57P01'));
  await until('the end', () => client.hasEnded);
  expect(lab.proxy.counts().get('write')).toMatchObject({ members: new Map(), states: { closing: 1 } });
  const next = await aSession();
  expect(next.client.received()).toEqual(GREETING);
  await clock.advance(5_000);
  await until('the close', () => lab.reasons().length === 1);
  expect(client.wasReset).toBe(false);
  expect(lab.closed()).toMatchObject([{ reason: 'backend_closed', lingeredMs: 5_000 }]);
});

const ENDS = [
  ['ends', 'backend_closed', 'connection closed by the server without an error message'],
  ['is reset', 'backend_reset', 'connection reset by the server'],
] as const;
const UNKNOWN = 'A statement or transaction was in progress. Check whether it took effect before you repeat it.';

test.each(
  ENDS.flatMap((end) => [
    [...end, 'between two transactions', '57P01', expect.stringContaining('No transaction was open.'), ''] as const,
    [...end, 'in a query', '08006', UNKNOWN, 'query'] as const,
    [...end, 'in a transaction', '08006', UNKNOWN, 'transaction'] as const,
  ]),
)('a server %s without an error (%s: %s) %s: SQLSTATE %s', async (_, ending, how, _when, sqlState, hint, moment) => {
  const session = await aSession();
  if (moment !== '') await session.ask();
  if (moment === 'transaction') await session.answer('T');
  const relayed = session.client.received().length;
  if (ending === 'backend_closed') session.server.socket.end();
  else session.server.socket.resetAndDestroy();
  expect(await until('the error', () => errorFields(session.client.received().subarray(relayed)))).toEqual({
    S: 'FATAL',
    V: 'FATAL',
    C: sqlState,
    M: `pointsman: the server of pool "write" closed the connection (${ending})`,
    D: `pg-1: ${how}`,
    H: hint,
  });
  await closed(session.client);
  expect(lab.closed()).toMatchObject([{ reason: ending, detail: `pg-1: ${how}`, member: 'pg-1' }]);
  expect(lab.triggers).toEqual([{ kind: ending, member: 'pg-1' }]);
});

test.each(ENDS)('a server that %s while its client authenticates: the client may try its next host', async (...end) => {
  const [, ending, how] = end;
  const client = await aStartingClient();
  backend.last().socket.write(AUTHENTICATION_SASL);
  await until('the question', () => client.received().equals(AUTHENTICATION_SASL));
  if (ending === 'backend_closed') backend.last().socket.end();
  else backend.last().socket.resetAndDestroy();
  const error = await until('the error', () => errorFields(client.received().subarray(AUTHENTICATION_SASL.length)));
  expect(error).toMatchObject({ C: '57P03', D: `pg-1: ${how}` });
  await closed(client);
});

test.each(ENDS)('a server that %s in the middle of a message: the proxy inserts nothing', async (...end) => {
  const [, ending] = end;
  const session = await aSession();
  await session.ask();
  const part = DATA_ROW.subarray(0, DATA_ROW.length - 1);
  session.server.socket.write(part);
  await until('a part', () => session.client.received().length === GREETING.length + part.length);
  if (ending === 'backend_closed') session.server.socket.end();
  else session.server.socket.resetAndDestroy();
  await until('the end', () => session.client.hasEnded);
  await closed(session.client);
  expect(session.client.received()).toEqual(Buffer.concat([GREETING, part]));
  expect(lab.reasons()).toEqual([ending]);
});

test('an unreadable stream ends as its server ends it, and a later eviction resets no client', async () => {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('the request', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
  backend.last().socket.write('S');
  await until('the answer', () => client.received().toString() === 'S');
  backend.last().socket.end('sealed');
  await until('the end', () => client.hasEnded);
  demote();
  client.socket.write('sealed as well');
  await clock.advance(2_000);
  await closed(client);
  expect(client.wasReset).toBe(false);
  expect(client.received().toString()).toBe('Ssealed');
  expect(lab.closed()).toMatchObject([{ reason: 'backend_closed', lingeredMs: 2_000 }]);
});
