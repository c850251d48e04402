import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Standing } from '../../../../src/core/standing.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { dialTcp } from '../../../../src/proxy/connect/dial.ts';
import type { Dial } from '../../../../src/proxy/server.ts';
import { until } from '../../../support/waiting/until.ts';

const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };

let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  [one, two] = await Promise.all([startFakeBackend('silent'), startFakeBackend('silent')]);
  clock = new ManualClock();
});

afterEach(() => lab.end(one, two));

function dials(): readonly string[] {
  return lab.events.flatMap((event) => (event.kind === 'dial_finished' ? [`${event.member} ${event.outcome}`] : []));
}

const unanswered: Dial = (_, { clock, timeoutMs }, onResult) =>
  clock.schedule(timeoutMs, () =>
    onResult({ kind: 'failed', outcome: 'timeout', isLocalFault: false, detail: 'no connection' }),
  );

const outOfFiles: Dial = (_, { clock }, onResult) =>
  clock.schedule(0, () => onResult({ kind: 'failed', outcome: 'failed', isLocalFault: true, detail: 'EMFILE' }));

test('a refused dial goes to another member, and the member that refused is probed', async () => {
  lab = await startProxyLab({ clock, table: { read: { open: { 'pg-1': one.address, 'pg-2': two.address } } } });
  await one.refuseConnections();
  await lab.connect('read');
  await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
  expect(dials()).toEqual(['pg-1 refused', 'pg-2 connected']);
  expect(lab.triggers).toEqual([{ kind: 'dial_failed', member: 'pg-1' }]);
  await one.listenAgain();
});

test('a server with several addresses is reached at the one that works', async () => {
  const address = { ...one.address, host: '127.0.0.9', others: ['127.0.0.10', one.address.host] };
  lab = await startProxyLab({ clock, table: { read: { open: { 'pg-1': address } } } });
  await lab.connect('read');
  await until('the session', () => one.connections.length === 1 && one.last().chunks.length > 0);
  expect(dials()).toEqual(['pg-1 connected']);
  await one.refuseConnections();
  await lab.connect('read');
  await until('the refusal', () => dials().length === 2);
  expect(dials()).toEqual(['pg-1 connected', 'pg-1 refused']);
  await one.listenAgain();
});

test('a refusing primary holds its clients; the retry pause doubles; its return releases them', async () => {
  lab = await startProxyLab({ clock, table: { write: { open: { 'pg-1': one.address } } } });
  await one.refuseConnections();
  await lab.connect('write');
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  expect(dials().length).toBe(1);
  await clock.advance(99);
  expect(dials().length).toBe(1);
  await clock.advance(1);
  await until('the second dial', () => dials().length === 2);
  await one.listenAgain();
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  await clock.advance(200);
  await until('the session', () => one.connections.length === 1 && one.last().chunks.length > 0);
});

test('a change of the route ends the pause', async () => {
  lab = await startProxyLab({ clock, table: { write: { open: { 'pg-1': one.address } } } });
  await one.refuseConnections();
  await lab.connect('write');
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  lab.decide({ write: { open: { 'pg-2': two.address } } });
  await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
  await one.listenAgain();
});

test('when the last event was a failed connect, the client reads this at the limit', async () => {
  const hold = { clientTimeoutMs: 1_000 };
  lab = await startProxyLab({ clock, hold, table: { write: { open: { 'pg-1': one.address } } } });
  await one.refuseConnections();
  const client = await lab.connect('write');
  const error = await until('the error', () => {
    void clock.advance(50);
    return errorFields(client.received());
  });
  expect(error).toMatchObject({
    C: '08006',
    M: 'pointsman: could not connect to a member of pool "write" after waiting 1 s (connect_failed)',
    D: expect.stringMatching(/^pg-1: connection refused; members: pg-1 \(passes the check\)$/),
  });
  await one.listenAgain();
});

test('a dial without an answer ends at its deadline', async () => {
  const open = { 'pg-1': one.address, 'pg-2': two.address };
  lab = await startProxyLab({ clock, dial: unanswered, table: { read: { open } } });
  await lab.connect('read');
  await until('the dial', () => lab.proxy.counts().get('read')?.states.dialing === 1);
  await clock.advance(3_000);
  expect(dials()).toEqual(['pg-1 timeout']);
  await clock.advance(3_000);
  expect(dials()).toEqual(['pg-1 timeout', 'pg-2 timeout']);
});

test('G12, scenario 41: a local fault is not blamed on a member', async () => {
  lab = await startProxyLab({
    clock,
    dial: outOfFiles,
    table: { read: { open: { 'pg-1': one.address, 'pg-2': two.address } } },
  });
  await lab.connect('read');
  await until('the dial', () => lab.proxy.counts().get('read')?.states.dialing === 1);
  await clock.advance(0);
  expect(dials()).toEqual(['pg-1 failed']);
  expect(lab.triggers.filter(({ kind }) => kind === 'dial_failed')).toEqual([]);
  expect(lab.proxy.counts().get('read')?.states.holding).toBe(1);
});

test('scenario 41: a connect that succeeded during a stall of this process counts, even when seen late', async () => {
  const dial: Dial = (...asked) => {
    const abort = dialTcp(...asked);
    void clock.advance(60_000);
    return abort;
  };
  lab = await startProxyLab({ clock, dial, table: { read: { open: { 'pg-1': one.address } } } });
  await lab.connect('read');
  await until('the session', () => one.connections.length === 1 && one.last().received().equals(aStartup()));
  expect(dials()).toEqual(['pg-1 connected']);
  expect(lab.triggers).toEqual([]);
});

test('G6: sessions on lagging members are counted and limited', async () => {
  one.behaviour = 'polite';
  const lagging = { maxSessions: 1 };
  const late = { open: { 'pg-1': one.address }, lagging };
  lab = await startProxyLab({ clock, pools: [aPool()], table: { read: late } });
  const first = await lab.connect('read');
  await until('a session', () => lab.proxy.counts().get('read')?.states.relaying === 1);
  const refused = await lab.connect('read');
  expect(await until('the error', () => errorFields(refused.received()))).toMatchObject({
    C: '53300',
    D: 'every member of pool "read" lags, and meanwhile its limit is 1 sessions',
  });
  first.socket.resetAndDestroy();
  await until('room for another', () => lab.proxy.counts().get('read')?.states.relaying === 0);
  await lab.connect('read');
  await until('another', () => lab.proxy.counts().get('read')?.states.relaying === 1);
  lab.decide({ read: { open: { 'pg-1': one.address } } });
  await lab.connect('read');
  await until('both sessions', () => lab.proxy.counts().get('read')?.states.relaying === 2);
});

test.each([
  ['fallback', { fallback: { pool: 'write', maxSessions: 1 } }],
  ['lagging', { lagging: { maxSessions: 1 } }],
])(
  'G6: at the limit of a degraded pool (%s) a refused dial goes elsewhere: a session does not count itself',
  async (_, degraded) => {
    const targets = { 'pg-1': one.address, 'pg-2': two.address };
    lab = await startProxyLab({ clock, table: { read: { open: targets, ...degraded } } });
    await one.refuseConnections();
    await lab.connect('read');
    await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
    expect(dials()).toEqual(['pg-1 refused', 'pg-2 connected']);
    await one.listenAgain();
  },
);

test('G6: sessions by fallback are counted and limited', async () => {
  one.behaviour = 'polite';
  const fallback = { pool: 'write', maxSessions: 2 };
  const pools = [aWritePool(), aPool({ fallback })];
  const borrowed = { open: { 'pg-1': one.address }, fallback };
  lab = await startProxyLab({ clock, pools, table: { read: borrowed } });
  await lab.connect('read');
  await lab.connect('read');
  await until('two sessions', () => lab.proxy.counts().get('read')?.states.relaying === 2);
  const third = await lab.connect('read');
  const error = await until('the error', () => errorFields(third.received()));
  expect(error).toMatchObject({
    C: '53300',
    M: 'pointsman: too many client connections (too_many_sessions)',
    D: 'pool "read" uses the members of pool "write", where its limit is 2 sessions',
  });
  lab.decide({ read: { open: { 'pg-2': two.address } } });
  await lab.connect('read');
  await until('a replica’s session', () => two.connections.length === 1);
  expect(lab.proxy.counts().get('read')?.fallbackSessions).toBe(2);
});

test('a server turns its client away as a decision is due that closes the route: the client waits', async () => {
  let isDue = false;
  lab = await startProxyLab({
    clock,
    table: { write: { open: { 'pg-1': one.address } } },
    onDecideIfDue() {
      if (!isDue || lab.triggers.length === 0) return;
      isDue = false;
      lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: DEAD } } } });
    },
  });
  one.behaviour = 'stopping';
  isDue = true;
  await lab.connect('write');
  await until('the decision', () => !isDue);
  expect([lab.reasons(), lab.proxy.counts().get('write')?.states.holding]).toEqual([[], 1]);
});
