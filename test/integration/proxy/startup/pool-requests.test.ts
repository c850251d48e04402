// `app@ro`: the client names its pool, at any listener.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aPacket, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let primary: FakeBackend;
let replica: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  [primary, replica] = await Promise.all([startFakeBackend('echo'), startFakeBackend('echo')]);
  clock = new ManualClock();
  lab = await startProxyLab({
    clock,
    pools: [aWritePool(), aPool(), aPool({ name: 'analytics' })],
    table: { write: { open: { 'pg-1': primary.address } }, read: { open: { 'pg-2': replica.address } } },
  });
});

afterEach(() => lab.end(primary, replica));

test.each([
  ['write', { user: 'u', database: 'app@ro' }, { user: 'u', database: 'app' }],
  ['write', { user: 'u', database: 'app@read' }, { user: 'u', database: 'app' }],
  [
    'write',
    { user: 'u', database: 'app', options: '-c pointsman.pool=ro -e' },
    { user: 'u', database: 'app', options: '-e' },
  ],
  ['write', { user: 'u', 'pointsman.pool': 'ro', database: 'app' }, { user: 'u', database: 'app' }],
  ['read', { user: 'u@rw', database: 'a@b@ro' }, { user: 'u@rw', database: 'a@b' }],
])('a client of %s that names %j reaches the replica; the target goes no further', async (pool, said, forwarded) => {
  await lab.connect(pool, said);
  const expected = aStartup(forwarded);
  await until('the packet', () => replica.connections.length === 1 && replica.last().received().equals(expected));
  expect(primary.connections.length).toBe(0);
  const opened = await until('its session', () => lab.events.find(({ kind }) => kind === 'session_opened'));
  expect(opened).toMatchObject({
    pool: 'read',
    database: forwarded.database,
  });
});

test('a session belongs to the pool it named: it is counted, evicted and ended there', async () => {
  const client = await lab.connect('read', { user: 'u', database: 'app@rw' });
  await until('the session', () => client.received().length > 0);
  expect(lab.proxy.counts().get('read')).toMatchObject({ accepted: 1, closed: 0, states: { startup: 0, relaying: 0 } });
  expect(lab.proxy.counts().get('write')).toMatchObject({ accepted: 0, members: new Map([['pg-1', 1]]) });
  lab.decide({ write: { others: { 'pg-1': { address: primary.address, standing: DEMOTED } } } });
  expect(lab.closed()).toMatchObject([{ pool: 'write', reason: 'evicted_demoted', database: 'app' }]);
  expect(lab.proxy.counts().get('write')).toMatchObject({ closed: 1, states: { relaying: 0 } });
});

test('a pool without a member holds its clients at every listener', async () => {
  const client = await lab.connect('write', { user: 'u', database: 'app@analytics' });
  await until('the hold', () => lab.proxy.counts().get('analytics')?.states.holding === 1);
  lab.decide({ analytics: { open: { 'pg-2': replica.address } } });
  await until('the session', () => client.received().equals(aStartup({ user: 'u', database: 'app' })));
});

test('bytes pipelined after the packet follow it, once', async () => {
  const client = await connectRaw(lab.address('write'));
  const more = Buffer.alloc(100_000, 7);
  client.socket.write(Buffer.concat([aStartup({ user: 'u', database: 'app@ro' }), more]));
  const expected = Buffer.concat([aStartup({ user: 'u', database: 'app' }), more]);
  await until('the echo', () => client.received().length === expected.length);
  expect(client.received().equals(expected)).toBe(true);
});

test('an unknown target is refused, and the error lists the known ones', async () => {
  const client = await lab.connect('read', { user: 'u', database: 'app@foo' });
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({
    C: '3D000',
    M: 'pointsman: unknown pool (unknown_pool)',
    D: 'no pool named "foo"; available: write, read, analytics, rw (write), ro (read)',
  });
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([{ pool: 'read', reason: 'unknown_pool', database: 'app' }]);
});

test.each([
  [
    { options: '-c pointsman.pool=nope' },
    'The client requests the pool in its startup options: -c pointsman.pool=NAME.',
  ],
  [{ 'pointsman.pool': 'nope' }, 'The client requests the pool in its startup parameter pointsman.pool.'],
])('the hint of such a refusal shows the place of the pool’s name: %j', async (parameters, hint) => {
  const client = await lab.connect('write', { user: 'u', database: 'app', ...parameters });
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '3D000', D: expect.stringMatching(/^no pool named "nope"; available: /), H: hint });
});

test('a protocol other than 3 goes to the listener’s pool, unchanged', async () => {
  const old = aPacket(0x00020000, Buffer.from('app@rw\0'));
  const client = await connectRaw(lab.address('read'));
  client.socket.write(old);
  await until('the echo', () => client.received().equals(old));
  expect(replica.connections.length).toBe(1);
});
