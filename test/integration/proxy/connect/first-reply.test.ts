// A server that refuses a client as its first reply. In an exclusive pool the client waits for the next primary, in any
// other pool another member is tried.
import { afterEach, describe, expect, test } from 'vitest';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import { encodeErrorResponse } from '../../../../src/wire/messages/error-response.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { AUTHENTICATION_OK } from '../../../support/sockets/messages.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const STARTING_UP = encodeErrorResponse({ sqlState: '57P03', message: 'starting up' });
const FULL = encodeErrorResponse({ sqlState: '53300', message: 'remaining connection slots are reserved' });
const LAGGING = { kind: 'leave', cause: 'lagging', why: { code: 'lagging' } } as const;

let lab: ProxyLab;
let old: FakeBackend;
let next: FakeBackend;
/** The result of the probe after the refusal: the primary stops, or no change. */
let isStopping: boolean;
let asked = 0;

async function start(
  behaviour: FakeBackend['behaviour'],
  pool: 'write' | 'read' = 'write',
  options: ProxyLabOptions = {},
): Promise<void> {
  [old, next] = await Promise.all([startFakeBackend(behaviour), startFakeBackend('echo')]);
  asked = 0;
  lab = await startProxyLab({
    ...options,
    table: { [pool]: { open: { 'pg-1': old.address } } },
    freshen: () => {
      asked += 1;
      if (isStopping && asked === 2)
        lab.decide({ write: { others: { 'pg-1': { address: old.address, standing: DEMOTED } } } });
      return Promise.resolve();
    },
  });
}

afterEach(() => lab.end(old, next));

test.each(['stopping', 'gone'] as const)(
  'a backend that is %s: the client is held and served by the next primary',
  async (how) => {
    isStopping = true;
    await start(how);
    const client = await connectRaw(lab.address('write'));
    client.socket.write(aStartup());
    await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
    expect(client.received().length).toBe(0);
    lab.decide({ write: { open: { 'pg-2': next.address } } });
    await until('the echo', () => client.received().equals(Buffer.from(aStartup())));
    expect(next.last().received().equals(Buffer.from(aStartup()))).toBe(true);
    expect(old.connections).toHaveLength(1);
    expect(lab.triggers).toContainEqual({ kind: 'backend_closed', member: 'pg-1' });
    expect(lab.proxy.counts().get('write')).toMatchObject({ toBackendBytes: aStartup().length });
  },
);

test('scenario 38: a member that stays the primary is tried until the wait is over, then relayed', async () => {
  isStopping = false;
  await start('stopping', 'write', { hold: { clientTimeoutMs: 400 } });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '57P03', M: 'the database system is shutting down' });
  await until('the end', () => client.hasEnded);
  client.socket.end();
  await until('the close', () => lab.closed().length === 1);
  expect(old.connections.length).toBeGreaterThan(2);
  expect(lab.closed()).toMatchObject([{ reason: 'backend_refused', member: 'pg-1', detail: 'pg-1: FATAL 57P03' }]);
});

test('a primary that takes clients again serves the one that waits', async () => {
  isStopping = false;
  await start('stopping');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('a third attempt', () => old.connections.length > 2);
  old.behaviour = 'echo';
  await until('the echo', () => client.received().equals(Buffer.from(aStartup())));
  expect(lab.proxy.counts().get('write')?.refusing?.get('pg-1')).toMatchObject({ sqlState: '57P03' });
  client.socket.destroy();
});

test('53300 of a primary with nothing else wrong is relayed at once, after one connect', async () => {
  isStopping = false;
  await start('full');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '53300' });
  client.socket.end();
  await until('the close', () => lab.closed().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'backend_refused', member: 'pg-1', detail: 'pg-1: FATAL 53300' }]);
  expect(old.connections).toHaveLength(1);
});

test('a client that waited for the primary waits on while it is full', async () => {
  isStopping = false;
  await start('full');
  lab.decide({ write: { others: { 'pg-1': { address: old.address, standing: DEMOTED } } } });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  lab.decide({ write: { open: { 'pg-1': old.address } } });
  await until('a refusal', () => old.connections.length > 0 && old.open() === 0);
  old.behaviour = 'echo';
  await until('the echo', () => client.received().equals(Buffer.from(aStartup())));
  client.socket.destroy();
});

test('while readers leave a full primary, a writer waits for their room', async () => {
  [old, next] = await Promise.all([startFakeBackend('obliging'), startFakeBackend('obliging')]);
  const pools = [
    aWritePool({ relocateAfterMs: 60_000 }),
    aPool({ name: 'read', onLeave: { ...aPool().onLeave, lagging: 'drain' }, relocateAfterMs: 60_000 }),
  ];
  const write = { open: { 'pg-1': old.address } };
  lab = await startProxyLab({
    pools,
    table: { write, read: write },
  });
  const reader = await lab.connect('read');
  await until('the login', () => reader.received().length > 0);
  const here = { 'pg-1': { address: old.address, standing: LAGGING } };
  lab.decide({ write, read: { open: { 'pg-2': next.address }, others: here } });
  old.behaviour = 'full';
  const writer = await connectRaw(lab.address('write'));
  writer.socket.write(aStartup());
  await until('the reader to leave, long before its time', () => reader.hasEnded);
  expect(reader.received().includes('evicted_lagging')).toBe(true);
  expect(writer.received()).toHaveLength(0);
  old.behaviour = 'echo';
  await until('the echo', () => writer.received().equals(Buffer.from(aStartup())));
  writer.socket.destroy();
  reader.socket.destroy();
});

async function twoReaders(behaviour: FakeBackend['behaviour'], pools?: readonly PoolPolicy[]): Promise<void> {
  [old, next] = await Promise.all([startFakeBackend(behaviour), startFakeBackend('obliging')]);
  const open = { 'pg-1': old.address, 'pg-2': next.address };
  lab = await startProxyLab({ clock: new ManualClock(), ...(pools && { pools }), table: { read: { open } } });
}

describe('in a pool of several members', () => {
  test.each([
    ['stopping', '57P03'],
    ['full', '53300'],
    ['gone', undefined],
  ] as const)(
    'no client reads that a member is %s: another one is tried, and gets the next ones',
    async (how, sqlState) => {
      await twoReaders(how);
      const clients: RawClient[] = [];
      for (let number = 0; number < 12; number += 1) {
        const client = await connectRaw(lab.address('read'));
        client.socket.write(aStartup());
        clients.push(client);
        await until('the login', () => client.received().length > 0);
        expect(errorFields(client.received())).toBeUndefined();
      }
      expect(next.clients()).toBe(12);
      // Round after round it would be the member with the fewest sessions.
      expect(old.clients()).toBe(1);
      expect(lab.proxy.counts().get('read')?.refusing?.get('pg-1')).toMatchObject({ sqlState, count: old.clients() });
      expect(lab.events).toContainEqual(expect.objectContaining({ kind: 'login_refused', member: 'pg-1', sqlState }));
      for (const { socket } of clients) socket.destroy();
    },
  );

  test.each(['stopping', 'full'] as const)(
    'when each is %s, the client reads the words of the last one',
    async (how) => {
      await twoReaders(how);
      next.behaviour = how;
      const client = await connectRaw(lab.address('read'));
      client.socket.write(aStartup());
      const error = await until('the error', () => errorFields(client.received()));
      expect(error).toMatchObject({ C: how === 'full' ? '53300' : '57P03' });
      expect(old.connections.length + next.connections.length).toBe(2);
      client.socket.destroy();
    },
  );

  test('when each closes without a word, the client reads 57P03', async () => {
    await twoReaders('gone');
    next.behaviour = 'gone';
    const client = await connectRaw(lab.address('read'));
    client.socket.write(aStartup());
    const error = await until('the error', () => errorFields(client.received()));
    expect(error).toMatchObject({ C: '57P03', M: expect.stringContaining('(backend_refused)') });
    client.socket.destroy();
  });

  test.each([
    ['in two parts', [STARTING_UP.subarray(0, 9), STARTING_UP.subarray(9)], '57P03'],
    ['behind the end of a login without a password', [Buffer.concat([AUTHENTICATION_OK, FULL])], '53300'],
    ['behind it, in two parts', [Buffer.concat([AUTHENTICATION_OK, FULL.subarray(0, 3)]), FULL.subarray(3)], '53300'],
    // report_fork_failure_to_client in launch_backend.c.
    ['without a length, as of a server that cannot start a process', [Buffer.from('Ecould not fork: \n\0')], '53000'],
  ] as const)('an error %s is recognised', async (_, parts, sqlState) => {
    await twoReaders('silent');
    const clients = await Promise.all([1, 2].map(() => connectRaw(lab.address('read'))));
    for (const { socket } of clients) socket.write(aStartup());
    await until('the packet', () => old.connections.length === 1 && old.last().chunks.length === 1);
    for (const part of parts) old.last().socket.write(part);
    await until('both logins', () => clients.every((client) => client.received().length > 0));
    for (const client of clients) expect(errorFields(client.received())).toBeUndefined();
    expect(next.clients()).toBe(2);
    expect(lab.proxy.counts().get('read')?.refusing?.get('pg-1')).toMatchObject({ sqlState });
    for (const { socket } of clients) socket.destroy();
  });

  test('an error that its server did not finish is a close without a word', async () => {
    await twoReaders('silent');
    const client = await connectRaw(lab.address('read'));
    client.socket.write(aStartup());
    await until('the packet', () => old.connections.length === 1 && old.last().chunks.length === 1);
    old.last().socket.end(FULL.subarray(0, 20));
    await until('the login', () => client.received().length > 0);
    expect(next.clients()).toBe(1);
    expect(lab.proxy.counts().get('read')?.refusing?.get('pg-1')).toMatchObject({ sqlState: undefined });
    client.socket.destroy();
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'a member that dies during a login (%s) gets no other client for a moment',
    async (how) => {
      await twoReaders('polite');
      const first = await connectRaw(lab.address('read'));
      first.socket.write(aStartup());
      await until('the question for a password', () => first.received().length > 0);
      old.last().socket[how]();
      await until('the end', () => first.hasEnded);
      for (let number = 1; number < 5; number += 1) {
        const client = await connectRaw(lab.address('read'));
        client.socket.write(aStartup());
        await until('the login', () => next.clients() === number);
        client.socket.destroy();
        await until('the end', () => next.open() === 0);
      }
      expect(old.clients()).toBe(1);
      expect(lab.proxy.counts().get('read')?.refusing?.get('pg-1')).toMatchObject({ sqlState: undefined, count: 1 });
      first.socket.destroy();
    },
  );

  test('a client that leaves during its login says nothing about the member', async () => {
    await twoReaders('polite');
    const client = await connectRaw(lab.address('read'));
    client.socket.write(aStartup());
    await until('the question for a password', () => client.received().length > 0);
    client.socket.end();
    await until('the goodbye', () => old.last().hasEnded);
    old.last().socket.end();
    await until('the close', () => lab.closed().length === 1);
    expect(lab.proxy.counts().get('read')?.refusing?.size ?? 0).toBe(0);
  });

  test('a wrong password says nothing about the member, and ends as a refused login', async () => {
    await twoReaders('silent', [aWritePool(), aPool({ name: 'read', balance: 'round_robin' })]);
    const client = await connectRaw(lab.address('read'));
    client.socket.write(aStartup());
    await until('the packet', () => old.connections.length === 1 && old.last().chunks.length === 1);
    old.last().socket.end(encodeErrorResponse({ sqlState: '28P01', message: 'password authentication failed' }));
    const error = await until('the error', () => errorFields(client.received()));
    expect(error).toMatchObject({ C: '28P01' });
    client.socket.end();
    await until('the close', () => lab.closed().length === 1);
    expect(lab.closed()).toMatchObject([{ reason: 'backend_refused', detail: 'pg-1: FATAL 28P01' }]);
    expect(next.connections).toHaveLength(0);
    const following = await connectRaw(lab.address('read'));
    const third = await connectRaw(lab.address('read'));
    for (const { socket } of [following, third]) socket.write(aStartup());
    await until('a login at each', () => old.connections.length === 2 && next.connections.length === 1);
    for (const { socket } of [following, third]) socket.destroy();
  });
});

test('a client that leaves before the server answers leaves nothing behind', async () => {
  isStopping = false;
  await start('silent');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the packet', () => old.connections.length === 1 && old.last().chunks.length === 1);
  client.socket.destroy();
  await until('the end', () => old.last().hasEnded && lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['client_gave_up']);
});

test('a primary that is demoted before it answers is dropped, and the client is held', async () => {
  isStopping = false;
  await start('silent');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the packet', () => old.connections.length === 1 && old.last().chunks.length === 1);
  lab.decide({ write: { others: { 'pg-1': { address: old.address, standing: DEMOTED } } } });
  expect(lab.proxy.counts().get('write')?.states.holding).toBe(1);
  lab.decide({ write: { open: { 'pg-2': next.address } } });
  await until('the echo', () => client.received().equals(Buffer.from(aStartup())));
  await until('the end', () => old.last().hasEnded);
});
