// The list of live sessions, and the end of one by its id: over real sockets, in every state of a session.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KillResult, SessionFilter, SessionList } from '../../../src/reports/session-list.ts';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { BackendConnection, FakeBackend } from '../../support/fakes/fake-backend.ts';
import {
  AUTHENTICATION_OK,
  COMMAND_COMPLETE,
  DATA_ROW,
  QUERY,
  backendKeyData,
  readyForQuery,
} from '../../support/sockets/messages.ts';
import { aCancelOf, aStartup, errorFields, SSL_REQUEST } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { until } from '../../support/waiting/until.ts';

interface Pair {
  readonly client: RawClient;
  readonly backend: BackendConnection;
}

const SECRET = Buffer.from([1, 2, 3, 4]);
const GREETING = Buffer.concat([AUTHENTICATION_OK, backendKeyData(77, SECRET), readyForQuery('I')]);
const NAMES = { user: 'app', database: 'shop', application_name: 'orders' };

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('silent');
  clock = new ManualClock();
  lab = await startProxyLab({ clock, table: { read: { open: { 'pg-1': backend.address } } } });
});

afterEach(() => lab.end(backend));

async function aSession(): Promise<Pair> {
  const before = backend.connections.length;
  const client = await lab.connect('read', NAMES);
  await until('the startup', () => backend.connections.length === before + 1 && backend.last().chunks.length > 0);
  const pair = { client, backend: backend.last() };
  await says(pair, GREETING);
  return pair;
}

async function asks({ client, backend: connection }: Pair): Promise<void> {
  const before = connection.received().length;
  client.socket.write(QUERY);
  await until('the query', () => connection.received().length === before + QUERY.length);
}

/** The server's bytes have reached the client. */
async function says({ client, backend: connection }: Pair, ...messages: readonly Buffer[]): Promise<void> {
  const before = client.received().length;
  const bytes = Buffer.concat(messages);
  connection.socket.write(bytes);
  await until('the answer', () => client.received().length >= before + bytes.length);
}

function listed(filter: SessionFilter = {}, limit = 100): Promise<SessionList> {
  return lab.proxy.sessions({ ...filter, limit });
}

async function kill(): Promise<KillResult> {
  const { sessions } = await listed();
  return lab.proxy.kill(sessions.at(-1)?.id ?? 0);
}

const portOf = ({ socket }: RawClient): string => `${socket.localAddress}:${socket.localPort}`;

describe('the list', () => {
  test('a relayed session: its names, its places, its bytes and its times', async () => {
    const { client } = await aSession();
    const since = clock.now();
    await clock.advance(250);
    expect(await listed()).toEqual({
      total: 1,
      silentWorkers: [],
      sessions: [
        {
          id: 1,
          pool: 'read',
          member: 'pg-1',
          client: portOf(client),
          listener: `127.0.0.1:${lab.address('read').port}`,
          user: 'app',
          database: 'shop',
          application: 'orders',
          state: 'relaying',
          activity: 'idle',
          tls: 'none',
          acceptedAt: since,
          stateSince: since,
          heldMs: 0,
          toBackendBytes: aStartup(NAMES).length,
          toClientBytes: GREETING.length,
        },
      ],
    });
  });

  test('a held client has no member, and shows since when it waits; its wait ends with the relay', async () => {
    await lab.connect('write', NAMES);
    await until('the wait', async () => (await listed({ state: 'holding' })).total === 1);
    await clock.advance(2_000);
    const [held] = (await listed()).sessions;
    expect(held).toMatchObject({ state: 'holding', member: undefined, heldMs: 2_000, activity: undefined });
    backend.behaviour = 'obliging';
    lab.decide({ write: { open: { 'pg-1': backend.address } } });
    await until('the relay', async () => (await listed({ state: 'relaying' })).total === 1);
    await clock.advance(5_000);
    expect((await listed()).sessions).toMatchObject([{ member: 'pg-1', heldMs: 2_000 }]);
  });

  test('a client that has sent nothing', async () => {
    await connectRaw(lab.address('read'));
    await until('the accept', async () => (await listed()).total === 1);
    expect((await listed()).sessions).toMatchObject([{ state: 'startup', user: undefined, tls: undefined }]);
  });

  test.each([
    ['in_transaction', [QUERY], [COMMAND_COMPLETE, readyForQuery('T')]],
    ['in_failed_transaction', [QUERY], [COMMAND_COMPLETE, readyForQuery('E')]],
    ['busy', [QUERY], [DATA_ROW]],
  ])('the activity: %s', async (activity, asked, said) => {
    const pair = await aSession();
    if (asked.length > 0) await asks(pair);
    await says(pair, ...said);
    expect((await listed()).sessions).toMatchObject([{ activity }]);
  });

  test('a session with encryption end to end shows neither names nor activity', async () => {
    const client = await connectRaw(lab.address('read'));
    client.socket.write(SSL_REQUEST);
    await until('the request', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
    backend.last().socket.write('S');
    await until('the answer', () => client.received().length === 1);
    expect((await listed()).sessions).toMatchObject([
      { tls: 'passthrough', user: undefined, activity: undefined, state: 'relaying' },
    ]);
  });

  test('filters and the limit: the oldest that match, and the number of all of them', async () => {
    const pairs = [await aSession(), await aSession(), await aSession()] as const;
    await lab.connect('write', NAMES);
    await until('the wait', async () => (await listed({ state: 'holding' })).total === 1);
    const ids = async (filter: SessionFilter, limit?: number): Promise<readonly number[]> =>
      (await listed(filter, limit)).sessions.map(({ id }) => id);
    expect(await ids({ pool: 'read' })).toEqual([1, 2, 3]);
    expect(await ids({ member: 'pg-1' })).toEqual([1, 2, 3]);
    expect(await ids({ state: 'holding' })).toEqual([4]);
    expect(await ids({ client: '127.0.0.1' })).toEqual([1, 2, 3, 4]);
    expect(await ids({ client: portOf(pairs[1].client) })).toEqual([2]);
    expect(await ids({ pool: 'read', state: 'holding' })).toEqual([]);
    expect(await listed({ pool: 'read' }, 2)).toMatchObject({ total: 3, sessions: [{ id: 1 }, { id: 2 }] });
    await clock.advance(10);
    expect(await lab.proxy.sessions({ sort: 'held', limit: 1 })).toMatchObject({ total: 4, sessions: [{ id: 4 }] });
  });
});

describe('an operator ends a session', () => {
  test('an unknown id changes nothing', async () => {
    await aSession();
    expect(await lab.proxy.kill(99)).toEqual({ kind: 'unknown' });
    expect((await listed()).total).toBe(1);
  });

  test.each([
    ['between two transactions', [], 'No transaction was open.', 'none'],
    ['in a transaction', [COMMAND_COMPLETE, readyForQuery('T')], 'The open transaction is rolled back.', 'none'],
    [
      'in the middle of a statement',
      [DATA_ROW],
      'A statement or transaction was in progress. Check whether it took effect before you repeat it.',
      'cancel_sent',
    ],
  ] as const)('%s: the client reads why, and its server is reset', async (_, said, hint, statement) => {
    const pair = await aSession();
    if (said.length > 0) {
      await asks(pair);
      await says(pair, ...said);
    }
    const relayed = pair.client.received().length;
    expect(await kill()).toMatchObject({
      kind: 'killed',
      isClientTold: true,
      statement,
      session: { id: 1, state: 'relaying', member: 'pg-1' },
    });
    const error = await until('the error', () => errorFields(pair.client.received().subarray(relayed)));
    expect(error).toMatchObject({
      S: 'FATAL',
      C: '57P01',
      M: 'pointsman: terminating connection: an operator ended the session (killed_by_operator)',
      H: hint,
    });
    await until('the reset', () => pair.backend.isClosed);
    expect(pair.backend.wasReset).toBe(true);
    pair.client.socket.end();
    await until('the end', () => lab.reasons().length === 1);
    expect(lab.closed()).toMatchObject([{ reason: 'killed_by_operator', member: 'pg-1' }]);
  });

  test('a statement under way is cancelled with the key of its session, once', async () => {
    const pair = await aSession();
    const other = await aSession();
    await asks(pair);
    await lab.proxy.kill(1);
    await until('the cancel request', () => backend.connections.length === 3 && backend.last().chunks.length > 0);
    expect(backend.last().received()).toEqual(aCancelOf(77, SECRET));
    backend.last().socket.end();
    await until('its end', () => backend.last().isClosed);
    expect(other.backend.isClosed).toBe(false);
    expect(backend.connections.length).toBe(3);
  });

  test('half a message has reached the client: no error can be sent, so both sides are reset', async () => {
    const pair = await aSession();
    await asks(pair);
    await says(pair, DATA_ROW.subarray(0, 6));
    expect(await kill()).toMatchObject({ isClientTold: false, statement: 'cancel_sent' });
    await until('both resets', () => pair.client.isClosed && pair.backend.isClosed);
    expect(pair.client.wasReset).toBe(true);
    expect(lab.reasons()).toEqual(['killed_by_operator']);
  });

  test('a session that cannot be read is reset, and the answer says that its statement may go on', async () => {
    const client = await connectRaw(lab.address('read'));
    client.socket.write(SSL_REQUEST);
    await until('the request', () => backend.connections.length === 1 && backend.last().chunks.length > 0);
    backend.last().socket.write('S');
    await until('the answer', () => client.received().length === 1);
    expect(await kill()).toMatchObject({ isClientTold: false, statement: 'not_cancelled' });
    await until('both resets', () => client.isClosed && backend.last().isClosed);
    expect(backend.connections.length).toBe(1);
  });

  test('a client that reads its last message is not waited for', async () => {
    const { client } = await aSession();
    await kill();
    expect((await listed()).sessions).toMatchObject([{ state: 'closing', member: undefined, heldMs: undefined }]);
    expect(await kill()).toMatchObject({ isClientTold: false, session: { state: 'closing' } });
    await until('the end', () => client.hasEnded);
    expect(lab.reasons()).toEqual(['killed_by_operator']);
  });

  test('a client that has sent nothing yet', async () => {
    const client = await connectRaw(lab.address('read'));
    await until('the accept', async () => (await listed()).total === 1);
    expect(await kill()).toMatchObject({ kind: 'killed', statement: 'none' });
    client.socket.end();
    await until('the end', () => lab.reasons().length === 1);
    expect(lab.reasons()).toEqual(['killed_by_operator']);
  });
});

test('lists taken while 300 sessions come and go: nothing is left', async () => {
  backend.behaviour = 'obliging';
  for (let round = 0; round < 10; round += 1) {
    const some = await Promise.all(Array.from({ length: 30 }, () => lab.connect('read', NAMES)));
    await until('their relays', async () => (await listed({ state: 'relaying' }, 5)).total >= 15);
    const { sessions } = await listed({}, 1_000);
    await Promise.all(sessions.slice(0, 5).map(({ id }) => lab.proxy.kill(id)));
    for (const { socket } of some) socket.resetAndDestroy();
  }
  await until('the end of all', () => lab.reasons().length === 300 && backend.open() === 0);
  expect(await listed()).toEqual({ sessions: [], total: 0, silentWorkers: [] });
  expect(lab.proxy.tally()).toMatchObject({ sessions: 0, starting: 0, held: 0 });
  await until('no timer left', () => clock.pending() === 0);
});
