// Limits on client connections beside the total: per address, and on connections that have not sent a request yet.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { connectRaw, watch } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('echo');
  clock = new ManualClock();
});

afterEach(() => lab.end(backend));

async function start(client: NonNullable<ProxyLabOptions['client']>): Promise<void> {
  lab = await startProxyLab({ clock, client, table: { write: { open: { 'pg-1': backend.address } } } });
}

async function asksFrom(localAddress: string): Promise<RawClient> {
  const { host, port } = lab.address('write');
  const socket = connect({ host, port, localAddress, allowHalfOpen: true });
  const client = watch(socket);
  await once(socket, 'connect');
  socket.write(aStartup());
  return client;
}

const relaying = () => lab.proxy.counts().get('write')?.states.relaying;

test('over the limit per address the next client gets an error, and other addresses are served', async () => {
  await start({ maxSessionsPerAddress: 1 });
  const first = await asksFrom('127.0.0.1');
  await until('a session', () => relaying() === 1);
  const second = await asksFrom('127.0.0.1');
  expect(await until('the error', () => errorFields(second.received()))).toMatchObject({
    C: '53300',
    D: 'the limit of 1 sessions from 127.0.0.1 is reached',
  });
  await asksFrom('127.0.0.2');
  await until('the other session', () => relaying() === 2);
  first.socket.destroy();
  await until('its end', () => relaying() === 1);
  await asksFrom('127.0.0.1');
  await until('the next session', () => relaying() === 2);
});

test('over the limit of silent clients the next one gets an error and is cut off; a request frees a slot', async () => {
  await start({ maxHandshakes: 1 });
  const silent = await connectRaw(lab.address('write'));
  await until('the accept', () => lab.proxy.counts().get('write')?.states.startup === 1);
  const second = await connectRaw(lab.address('write'));
  expect(await until('the error', () => errorFields(second.received()))).toMatchObject({
    C: '53300',
    D: 'the limit of 1 clients in their handshake is reached',
  });
  await until('its end', () => second.hasEnded || second.isClosed);
  silent.socket.write(aStartup());
  await until('a session', () => relaying() === 1);
  await asksFrom('127.0.0.1');
  await until('another session', () => relaying() === 2);
});

test.each([
  ['that send nothing', Buffer.alloc(0)],
  ['that stop in the middle of a startup packet', aStartup().subarray(0, 12)],
])('clients %s free their slots for others after a second, the oldest first', async (_, words) => {
  await start({ maxSessions: 6, maxHandshakes: 3 });
  const silent: RawClient[] = [];
  for (let count = 1; count <= 3; count += 1) {
    const client = await connectRaw(lab.address('write'));
    client.socket.write(words);
    await until('the accept', () => lab.proxy.counts().get('write')?.states.startup === count);
    silent.push(client);
  }
  // The proxy has read their bytes before its first check of them.
  await clock.advance(1_000);
  await asksFrom('127.0.0.1');
  await clock.advance(1_000);
  for (let count = 1; count <= 3; count += 1) {
    await asksFrom('127.0.0.1');
    await until('its session', () => (relaying() ?? 0) >= count);
  }
  await until('the oldest is gone', () => silent[0]?.isClosed === true || silent[0]?.hasEnded === true);
  expect(lab.closed()[0]).toMatchObject({ reason: expect.stringMatching(/^(startup_timeout|too_many_sessions)$/) });
  expect(lab.closed()).toContainEqual(
    expect.objectContaining({ reason: 'startup_timeout', detail: 'silent while others needed the room' }),
  );
});
