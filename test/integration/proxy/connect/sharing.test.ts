// The distribution of sessions over real sockets: weights, zones, and the share of a member in slow start.
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Balance } from '../../../../src/model/policy.ts';
import { aPool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { SSL_REQUEST, aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab | undefined;
const backends: FakeBackend[] = [];

afterEach(async () => {
  lab?.proxy.close();
  await Promise.all(backends.splice(0).map((backend) => backend.stop()));
});

async function twoBackends(): Promise<readonly [FakeBackend, FakeBackend]> {
  const pair = [await startFakeBackend('echo'), await startFakeBackend('echo')] as const;
  backends.push(...pair);
  return pair;
}

function opens(one: FakeBackend, other: FakeBackend, sharing: PoolPicture['sharing'] = {}): PoolPicture {
  return { open: { one: one.address, other: other.address }, sharing };
}

/** Opens sessions one after the other, and keeps them all. */
async function openSessions(at: ProxyLab, count: number): Promise<void> {
  for (let opened = 0; opened < count; opened += 1) {
    const client = await connectRaw(at.address('read'));
    client.socket.write(aStartup());
    await until('the session', () => client.received().length === aStartup().length);
  }
}

test.each<Balance>(['least_sessions', 'round_robin'])(
  '%s: three times the weight, three times the sessions',
  async (balance) => {
    const [one, other] = await twoBackends();
    const read = opens(one, other, { one: { weight: 3 } });
    lab = await startProxyLab({ pools: [aPool({ balance })], table: { read } });
    await openSessions(lab, 8);
    expect([one.open(), other.open()]).toEqual([6, 2]);
  },
);

test('our own zone first; when its member refuses the connect, another member serves the same client', async () => {
  const [near, far] = await twoBackends();
  lab = await startProxyLab({ pools: [aPool()], table: { read: opens(near, far, { other: { isFar: true } }) } });
  await openSessions(lab, 3);
  expect([near.open(), far.open()]).toEqual([3, 0]);
  await near.refuseConnections();
  await openSessions(lab, 2);
  expect(far.open()).toBe(2);
});

test('our own zone is down: the other zone takes new sessions until it is back', async () => {
  const [near, far] = await twoBackends();
  const read = opens(near, far, { other: { isFar: true } });
  lab = await startProxyLab({ pools: [aPool()], table: { read } });
  lab.decide({ read: { ...read, open: { other: far.address } } });
  await openSessions(lab, 2);
  expect([near.open(), far.open()]).toEqual([0, 2]);
  lab.decide({ read });
  await openSessions(lab, 3);
  expect([near.open(), far.open()]).toEqual([3, 2]);
});

test('scenario 26: a replica that returns to a loaded pool does not get every new session', async () => {
  const [one, other] = await twoBackends();
  const clock = new ManualClock();
  const read = opens(one, other);
  lab = await startProxyLab({ clock, pools: [aPool({ slowStartMs: 10_000 })], table: { read } });
  lab.decide({ read: { open: { one: one.address } } });
  await openSessions(lab, 10);
  lab.decide({ read });
  await openSessions(lab, 3);
  expect([one.open(), other.open()]).toEqual([12, 1]);
  expect(lab.proxy.counts().get('read')?.ramping).toEqual(new Map([['other', 0.01]]));

  await clock.advance(5_000);
  await openSessions(lab, 5);
  expect([one.open(), other.open()]).toEqual([12, 6]);
  await openSessions(lab, 6);
  expect([one.open(), other.open()]).toEqual([16, 8]);
  await clock.advance(5_000);
  await openSessions(lab, 8);
  expect([one.open(), other.open()]).toEqual([16, 16]);
});

test('client_address: sessions and cancels of one address inside TLS come to one member', async () => {
  const [one, other] = await twoBackends();
  const pool = aPool({ balance: 'client_address' });
  lab = await startProxyLab({ pools: [pool], table: { read: opens(one, other) } });
  const { host, port } = lab.address('read');
  for (let address = 1; address <= 12; address += 1) {
    const before = [one.connections.length, other.connections.length];
    for (let count = 1; count <= 3; count += 1) {
      // The proxy cannot see whether the bytes inside TLS are a session or a cancel.
      connect({ host, port, localAddress: `127.0.0.${address}` })
        .on('error', () => {})
        .write(SSL_REQUEST);
      await until('the connection', () => one.open() + other.open() === (address - 1) * 3 + count);
    }
    const [first = 0, second = 0] = before;
    const came = [one.connections.length - first, other.connections.length - second];
    expect([Math.min(...came), Math.max(...came)]).toEqual([0, 3]);
  }
  expect(Math.min(one.open(), other.open()), 'addresses are shared out').toBeGreaterThan(0);
});
