// A new policy for a running proxy: new limits apply to new clients, and sessions of removed listeners and pools drain.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../../src/model/member.ts';
import type { ProxyPolicy } from '../../../src/proxy/options.ts';
import { aPool, aWritePool } from '../../support/values/builders.ts';
import { freeAddresses } from '../../support/labs/app-lab.ts';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { LAB_POLICY, startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('echo');
  clock = new ManualClock();
  lab = await startProxyLab({ clock, table: { read: { open: { 'pg-2': backend.address } } } });
});

afterEach(() => lab.end(backend));

/** The lab's own policy, with the addresses that it listens on now. */
function policy(changes: Partial<ProxyPolicy> = {}): ProxyPolicy {
  return {
    pools: [aWritePool(), aPool()],
    listeners: [
      { address: ANYWHERE, pool: 'write' },
      { address: ANYWHERE, pool: 'read' },
    ],
    ...LAB_POLICY,
    ...changes,
  };
}

const ANYWHERE: Address = { host: '127.0.0.1', port: 0 };

async function apply(changes: Partial<ProxyPolicy> = {}) {
  const prepared = await lab.proxy.prepare(policy(changes));
  if (prepared.kind === 'failed') throw new Error(prepared.message);
  return prepared.apply();
}

async function aClient(at: Address): Promise<RawClient> {
  const client = await connectRaw(at);
  client.socket.write(aStartup());
  return client;
}

async function aReader(): Promise<RawClient> {
  const client = await aClient(lab.address('read'));
  await until('the session', () => client.received().length === aStartup().length);
  return client;
}

test('listeners that stay are not bound again', async () => {
  expect(await apply()).toEqual({ added: [], removed: [] });
  await aReader();
});

test('a removed listener: its sessions end at the deadline of its pool, not before', async () => {
  const reader = await aReader();
  const { removed } = await apply({ listeners: [{ address: ANYWHERE, pool: 'write' }] });
  expect(removed).toEqual([{ pool: 'read', address: lab.address('read') }]);
  await clock.advance(59_999);
  expect(lab.reasons()).toEqual([]);
  await clock.advance(1);
  expect(lab.reasons()).toEqual(['evicted_removed']);
  await until('the end', () => reader.isClosed);
  expect(reader.wasReset).toBe(true);
});

test('a listener returns before the deadline: its sessions stay', async () => {
  await aReader();
  await apply({ listeners: [{ address: ANYWHERE, pool: 'write' }] });
  await apply({
    listeners: [
      { address: ANYWHERE, pool: 'write' },
      { address: lab.address('read'), pool: 'read' },
    ],
  });
  await clock.advance(120_000);
  expect(lab.reasons()).toEqual([]);
});

test('a client that waits on a removed listener gets an error at the deadline at the latest', async () => {
  lab.decide({});
  const hold = { clientTimeoutMs: 600_000, maxSessions: 100, outageTimeoutMs: 600_000, maxConnectsPerSecond: 1_000 };
  await apply({ hold });
  const waiting = await aClient(lab.address('read'));
  await until('the hold', () => lab.proxy.counts().get('read')?.states.holding === 1);
  await apply({ hold, listeners: [{ address: ANYWHERE, pool: 'write' }] });
  await clock.advance(60_000);
  const error = await until('the error', () => errorFields(waiting.received()));
  expect(error).toMatchObject({ C: '57P03', D: expect.stringContaining('is no longer configured') });
});

test('new limits apply to new clients', async () => {
  await aReader();
  await apply({
    client: {
      startupTimeoutMs: 10_000,
      maxSessions: 1,
      maxDisconnectsPerSecond: 50,
      tls: { mode: 'passthrough' },
    },
  });
  const second = await aClient(lab.address('read'));
  expect(await until('the error', () => errorFields(second.received()))).toMatchObject({ C: '53300' });
  expect(lab.proxy.counts().get('read')?.states.relaying).toBe(1);
  await apply();
  await aReader();
});

test('a client at an address that is not active yet is served once active, and cut off if abandoned', async () => {
  const [address] = await freeAddresses(1);
  if (address === undefined) throw new Error('no free port');
  const listeners = [...policy().listeners, { address, pool: 'read' }];
  const abandoned = await lab.proxy.prepare(policy({ listeners }));
  const early = await aClient(address);
  if (abandoned.kind === 'prepared') abandoned.abandon();
  await until('the end', () => early.hasEnded || early.isClosed);
  expect(early.received().length).toBe(0);

  const prepared = await lab.proxy.prepare(policy({ listeners }));
  const client = await aClient(address);
  if (prepared.kind === 'prepared') prepared.apply();
  await until('the session', () => client.received().length === aStartup().length);
});
