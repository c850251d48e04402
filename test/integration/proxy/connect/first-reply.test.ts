// A primary that shuts down during a connect. Its client is held for the next primary and reads no error.
import { afterEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';

let lab: ProxyLab;
let old: FakeBackend;
let next: FakeBackend;
/** The result of the probe after the refusal: the primary stops, or no change. */
let isStopping: boolean;
let asked = 0;

async function start(behaviour: FakeBackend['behaviour'], pool: 'write' | 'read' = 'write'): Promise<void> {
  [old, next] = await Promise.all([startFakeBackend(behaviour), startFakeBackend('echo')]);
  asked = 0;
  lab = await startProxyLab({
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

test('scenario 38: 57P03 of a member that is still the primary is relayed as it is', async () => {
  isStopping = false;
  await start('stopping');
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '57P03', M: 'the database system is shutting down' });
  await until('the end', () => client.hasEnded);
  client.socket.end();
  await until('the close', () => lab.closed().length === 1);
  expect(old.connections).toHaveLength(2);
  expect(lab.closed()).toMatchObject([{ reason: 'backend_closed', member: 'pg-1' }]);
});

test('in a pool of several members the server’s first bytes are relayed already', async () => {
  isStopping = false;
  await start('stopping', 'read');
  const client = await connectRaw(lab.address('read'));
  client.socket.write(aStartup());
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '57P03' });
  expect(old.connections).toHaveLength(1);
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
