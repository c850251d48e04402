// A member does not answer a connect, and the next one is tried in parallel. The client loses the delay, and no slot or
// count leaks.
import { createServer, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { close, listen } from '../../../support/sockets/listen.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { SERVER_TLS } from '../../../support/values/tls-files.ts';
import { until } from '../../../support/waiting/until.ts';
import { dialTcp } from '../../../../src/proxy/connect/dial.ts';
import type { Dial, DialResult } from '../../../../src/proxy/server.ts';

const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };

let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let clock: ManualClock;
/** Connects to pg-1 that are under way. The test decides how they end. */
let unanswered: Map<number, (result: DialResult) => void>;

beforeEach(async () => {
  [one, two] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  clock = new ManualClock();
  unanswered = new Map();
});

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
  expect(unanswered.size).toBe(0);
  const counts = lab.proxy.counts().get('read');
  expect({ accepted: counts?.accepted, slots: counts?.members.size }).toEqual({
    accepted: lab.closed().length,
    slots: 0,
  });
  await Promise.all([one.stop(), two.stop()]);
});

let dialed = 0;

/** As if packets to pg-1 were dropped. */
const withoutAnswer: Dial = (address, limits, onResult) => {
  if (address.port !== one.address.port) return dialTcp(address, limits, onResult);
  const id = (dialed += 1);
  const cancel = limits.clock.schedule(limits.timeoutMs, () =>
    finish({ kind: 'failed', outcome: 'timeout', isLocalFault: false, detail: 'no connection' }),
  );
  const finish = (result: DialResult): void => {
    cancel();
    if (unanswered.delete(id)) onResult(result);
  };
  unanswered.set(id, finish);
  return () => {
    cancel();
    unanswered.delete(id);
  };
};

async function start(options: ProxyLabOptions = {}): Promise<void> {
  lab = await startProxyLab({ clock, dial: withoutAnswer, table: { read: both() }, ...options });
}

function both(): PoolPicture {
  return { open: { 'pg-1': one.address, 'pg-2': two.address } };
}

async function aClient(): Promise<RawClient> {
  const client = await lab.connect('read');
  await until('the connect', () => unanswered.size > 0);
  return client;
}

function dials(): readonly string[] {
  return lab.events.flatMap((event) => (event.kind === 'dial_finished' ? [`${event.member} ${event.outcome}`] : []));
}

function slots(): Readonly<Record<string, number>> {
  return Object.fromEntries(lab.proxy.counts().get('read')?.members ?? []);
}

test('after attempt_delay the next member is tried; the losing connect is closed, its member probed', async () => {
  await start();
  await aClient();
  expect(slots()).toEqual({ 'pg-1': 1 });
  await clock.advance(249);
  expect(dials()).toEqual([]);
  await clock.advance(1);
  await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
  expect(dials()).toEqual(['pg-1 outraced', 'pg-2 connected']);
  expect(unanswered.size).toBe(0);
  expect(lab.triggers).toEqual([{ kind: 'connect_slow', member: 'pg-1' }]);
  expect(slots()).toEqual({ 'pg-2': 1 });
});

test('the first member may still win; the second one is not counted as slow', async () => {
  await two.refuseConnections();
  await start({
    dial: (address, limits, onResult) => withoutAnswer({ ...address, port: one.address.port }, limits, onResult),
  });
  await aClient();
  await clock.advance(250);
  expect([unanswered.size, slots()]).toEqual([2, { 'pg-2': 1 }]);
  const socket = new Socket().connect({ host: one.address.host, port: one.address.port });
  await until('a connection', () => !socket.connecting);
  const [first] = unanswered.values();
  first?.({ kind: 'connected', socket });
  await until('the session', () => one.connections.length === 1 && one.last().chunks.length > 0);
  expect(dials()).toEqual(['pg-2 outraced', 'pg-1 connected']);
  expect([lab.triggers, slots()]).toEqual([[], { 'pg-1': 1 }]);
  await two.listenAgain();
});

test('when the second member refuses, the first connect goes on until its own deadline', async () => {
  await two.refuseConnections();
  await start();
  await aClient();
  await clock.advance(250);
  await until('the refusal', () => dials().length === 1);
  expect(unanswered.size).toBe(1);
  await clock.advance(2749);
  expect(dials()).toEqual(['pg-2 refused']);
  await clock.advance(1);
  expect(dials()).toEqual(['pg-2 refused', 'pg-1 timeout']);
  expect(lab.proxy.counts().get('read')?.states).toMatchObject({ holding: 1 });
  expect(slots()).toEqual({});
  await two.listenAgain();
  await clock.advance(100);
  await clock.advance(250);
  await until('the session', () => two.connections.length === 1);
});

test('a client that leaves during the race ends each of its connects', async () => {
  await start({
    dial: (address, limits, onResult) => withoutAnswer({ ...address, port: one.address.port }, limits, onResult),
  });
  const client = await aClient();
  await clock.advance(250);
  expect(unanswered.size).toBe(2);
  client.socket.destroy();
  await until('the end', () => lab.reasons().length === 1);
  expect([lab.reasons(), unanswered.size, slots()]).toEqual([['client_gave_up'], 0, {}]);
});

test('a member that leaves during the race is not used, although it wins', async () => {
  await start();
  await aClient();
  lab.decide({ read: { open: { 'pg-1': one.address } } });
  await clock.advance(250);
  expect(two.connections).toHaveLength(0);
  lab.decide({ read: { open: { 'pg-2': two.address } } });
  await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
  expect(slots()).toEqual({ 'pg-2': 1 });
});

test('a member that left before the race begins: its client is routed again, with one connect', async () => {
  const news: (() => void)[] = [];
  await start({ onDecideIfDue: () => news.shift()?.() });
  await aClient();
  news.push(() => lab.decide({ read: { open: { 'pg-2': two.address } } }));
  await clock.advance(250);
  await until('the session', () => two.connections.length > 0 && two.last().chunks.length > 0);
  expect([two.connections.length, unanswered.size]).toEqual([1, 0]);
  expect(dials()).toEqual(['pg-2 connected']);
});

test('a member that has left at the end of its connect: its client waits for another one', async () => {
  const news: (() => void)[] = [];
  const onDecideIfDue = (): void => {
    if (news.length > 0 && dials().length === 1) news.pop()?.();
  };
  await start({ dial: dialTcp, onDecideIfDue, table: { read: { open: { 'pg-1': one.address } } } });
  news.push(() => lab.decide({ read: { others: { 'pg-1': { address: one.address, standing: DEAD } } } }));
  const client = await lab.connect('read');
  await until('the decision', () => news.length === 0);
  lab.decide({ read: { open: { 'pg-2': two.address } } });
  await until('the session', () => client.isClosed || (two.connections.length > 0 && two.last().chunks.length > 0));
  expect([dials(), lab.reasons()]).toEqual([['pg-1 connected', 'pg-2 connected'], []]);
  await until('the end of the first connection', () => one.last().hasEnded);
});

test.each([
  ['agreed to it', 'S'],
  ['not answered yet', ''],
])('a member that was reached, and has %s: no race with TLS to members', async (_, answer) => {
  let heard = 0;
  const slow = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.write(answer));
    socket.on('data', () => (heard += 1)).on('close', () => socket.destroy());
  });
  const [host, port] = ['127.0.0.1', await listen(slow)];
  const next = await startFakeBackend('silent', { tls: true });
  const open = { 'pg-1': { host, port }, 'pg-2': next.address };
  await start({ dial: dialTcp, backend: { tls: SERVER_TLS }, table: { read: { open } } });
  await lab.connect('read');
  await until('the requests', () => heard === (answer === '' ? 1 : 2));
  await clock.advance(2_999);
  expect([dials(), slots(), lab.triggers.length]).toEqual([[], { 'pg-1': 1 }, 0]);
  await clock.advance(1);
  await until('the next connect', () => dials().length === 2);
  expect(dials()).toEqual(['pg-1 timeout', 'pg-2 connected']);
  lab.proxy.close();
  await Promise.all([close(slow), next.stop()]);
});

test('at most `attempts` connects at once; no race where races are off or no other member is there', async () => {
  await start({ backend: { connectAttempts: 1 } });
  await aClient();
  await clock.advance(2999);
  expect(unanswered.size).toBe(1);
  lab.proxy.close();
  await start({ backend: { attemptDelayMs: undefined } });
  await aClient();
  await clock.advance(2999);
  expect(unanswered.size).toBe(1);
  expect(two.connections).toHaveLength(0);
});

test('a member that missed a probe gets new clients only when no other member is available', async () => {
  const suspect = { 'pg-1': { isSuspect: true } } as const;
  await start({ table: { read: { ...both(), sharing: suspect } } });
  for (let count = 1; count <= 3; count += 1) {
    const client = await connectRaw(lab.address('read'));
    client.socket.write(aStartup());
    await until('a session on pg-2', () => two.connections.length === count);
  }
  await until('the slots', () => slots()['pg-2'] === 3);
  lab.decide({ read: { open: { 'pg-1': one.address }, sharing: suspect } });
  await aClient();
});
