// A session whose TLS is ours is a session like any other: it is held, told, reset, and cancelled by key.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ClientTls } from '../../../src/core/policy.ts';
import { startFakeBackend } from '../../support/fake-backend.ts';
import type { FakeBackend } from '../../support/fake-backend.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { AUTHENTICATION_OK, backendKeyData, readyForQuery } from '../../support/messages.ts';
import { aCancelOf, aCancelRequest, aStartup, errorFields } from '../../support/packets.ts';
import { startProxyLab } from '../../support/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../support/proxy-lab.ts';
import { connectRaw } from '../../support/raw-client.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { DEMOTED } from '../../support/tables.ts';
import { connectTls } from '../../support/tls-client.ts';
import { SERVER } from '../../support/tls-files.ts';
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

test('G17: a cancel request reaches its session by key, in TLS or in plain text, also where TLS is required', async () => {
  await start('require');
  const session = await connectTls(at());
  session.socket.write(aStartup());
  await untilHeard(one, aStartup());
  const key = Buffer.alloc(32, 5);
  one.last().socket.write(Buffer.concat([AUTHENTICATION_OK, backendKeyData(7, key), readyForQuery('I')]));
  await until('the key', () => session.received().length > 40);
  const plain = await connectRaw(at());
  plain.socket.write(aCancelOf(7, key));
  await until('the cancel', () => one.connections.length === 2);
  await untilHeard(one, aCancelOf(7, key));
  one.last().socket.destroy();
  const client = await connectTls(at());
  client.socket.write(aCancelOf(7, key));
  await until('the cancel', () => one.connections.length === 3);
  await untilHeard(one, aCancelOf(7, key));
  one.last().socket.end();
  // libpq takes anything but an orderly end of TLS for a failure.
  await until('the end', () => client.hasEnded);
  expect(lab.events.filter(({ kind }) => kind === 'cancel-forwarded')).toMatchObject([
    { key: 'known' },
    { key: 'known' },
  ]);
});

test('a cancel request that leads to nobody ends in order too', async () => {
  await start('terminate', { table: {} });
  const client = await connectTls(at());
  client.socket.write(aCancelRequest());
  expect(await reasonOf(client)).toEqual(['cancel-forwarded', 'nobody to pass it on to in this pool']);
});

test('a client in TLS is held for a route, and told why there is none', async () => {
  await start('terminate', { table: {}, hold: { maxWaitMs: 5_000 } });
  const client = await connectTls(at());
  client.socket.write(aStartup());
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  const late = await connectTls(at());
  late.socket.write(aStartup());
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 2);
  await clock.advance(5_000);
  expect(await until('the error', () => errorFields(client.received()))).toMatchObject({ C: '57P03' });
  await until('its end', () => client.hasEnded);
});

test('a session in TLS that is between transactions is told why it ends', async () => {
  await start();
  const client = await connectTls(at());
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
  const greeting = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
  one.last().socket.write(greeting);
  await until('the greeting', () => client.received().equals(greeting));
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: DEMOTED } } } });
  const error = await until('the error', () => errorFields(client.received().subarray(greeting.length)));
  expect(error).toMatchObject({ C: '57P01' });
  await until('the end', () => client.hasEnded);
});

test('a session in TLS in the middle of something is reset', async () => {
  await start();
  const client = await connectTls(at());
  client.socket.write(aStartup());
  await untilHeard(one, aStartup());
  const greeting = Buffer.concat([AUTHENTICATION_OK, readyForQuery('T')]);
  one.last().socket.write(greeting);
  await until('the greeting', () => client.received().equals(greeting));
  lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: DEMOTED } } } });
  await until('the reset', () => client.isClosed);
  expect(client.wasReset).toBe(true);
  expect(lab.reasons()).toEqual(['evicted-demoted']);
});
