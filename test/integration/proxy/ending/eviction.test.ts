import { afterEach, beforeEach, expect, test } from 'vitest';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { until } from '../../../support/waiting/until.ts';
import type { Dial } from '../../../../src/proxy/server.ts';
import { dialTcp } from '../../../../src/proxy/connect/dial.ts';

let lab: ProxyLab;
let one: FakeBackend;
let two: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  [one, two] = await Promise.all([startFakeBackend('polite'), startFakeBackend('polite')]);
  clock = new ManualClock();
});

afterEach(() => lab.end(one, two));

async function start(options: ProxyLabOptions = {}): Promise<void> {
  const table = { write: firstOpen(), read: firstOpen() };
  lab = await startProxyLab({ clock, table, ...options });
}

function firstOpen(): PoolPicture {
  return { open: { 'pg-1': one.address } };
}

function demoted(otherwise: PoolPicture = {}): PoolPicture {
  return { ...otherwise, others: { 'pg-1': { address: one.address, standing: DEMOTED } } };
}

function leaving(cause: 'lagging' | 'tagged_out' | 'dead'): PoolPicture {
  return {
    open: { 'pg-2': two.address },
    others: { 'pg-1': { address: one.address, standing: { kind: 'leave', cause, why: { code: 'lagging' } } } },
  };
}

async function aSession(pool: string): Promise<RawClient> {
  const client = await connectRaw(lab.address(pool));
  client.socket.once('end', () => client.socket.end());
  const before = one.connections.length;
  client.socket.write(aStartup());
  await until('the session', () => one.connections.length === before + 1 && client.received().length > 0);
  return client;
}

/** Its client has read why. */
async function hasEnded(...reasons: readonly string[]): Promise<void> {
  await until('the end of the session', () => lab.reasons().length > 0);
  expect(lab.reasons()).toEqual(reasons);
}

test('G3: a demoted primary is reset synchronously, and no byte follows', async () => {
  await start();
  const client = await aSession('write');
  const received = one.last().received().length;
  client.socket.write('never to arrive');
  lab.decide({ write: demoted() });
  expect(lab.proxy.counts().get('write')?.members.size).toBe(0);
  await until('the reset', () => one.last().isClosed && client.isClosed);
  await hasEnded('evicted_demoted');
  expect(one.last().wasReset).toBe(true);
  expect(one.last().received().length).toBe(received);
});

test('a session is evicted once, and the sessions of other pools and members stay', async () => {
  await start({ table: { write: firstOpen(), read: firstOpen() } });
  await aSession('write');
  const reader = await aSession('read');
  lab.decide({ write: demoted(), read: firstOpen() });
  lab.decide({ write: demoted(), read: firstOpen() });
  await hasEnded('evicted_demoted');
  reader.socket.write('still here');
  await until('the reader', () => one.connections.some((connection) => connection.received().includes('still here')));
});

test('an eviction while the backend is slow to read leaves no handle behind', async () => {
  one.behaviour = 'stalled';
  await start();
  const client = await connectRaw(lab.address('write'));
  client.socket.end(Buffer.concat([aStartup(), Buffer.alloc(8 * 1024 * 1024)]));
  await until('a full pipe', () => (lab.proxy.counts().get('write')?.toBackendBytes ?? 0) > 100_000);
  lab.decide({ write: demoted() });
  expect(lab.reasons()).toEqual(['evicted_demoted']);
  one.last().socket.resume();
  await until('the end', () => one.last().isClosed);
});

test('drain leaves sessions alone until its deadline', async () => {
  await start();
  const client = await aSession('read');
  lab.decide({ read: leaving('tagged_out') });
  client.socket.write('go on');
  await until('bytes', () => one.last().received().includes('go on'));
  await clock.advance(59_999);
  expect(lab.reasons()).toEqual([]);
  await clock.advance(1);
  expect(lab.reasons()).toEqual(['evicted_tagged_out']);
});

test('a member that returns during its drain keeps its sessions, and a later departure drains again', async () => {
  await start();
  await aSession('read');
  lab.decide({ read: leaving('tagged_out') });
  await clock.advance(50_000);
  lab.decide({ read: firstOpen() });
  await clock.advance(50_000);
  expect(lab.reasons()).toEqual([]);
  lab.decide({ read: leaving('tagged_out') });
  await clock.advance(59_999);
  expect(lab.reasons()).toEqual([]);
  await clock.advance(1);
  await hasEnded('evicted_tagged_out');
});

test('keep leaves sessions alone; when the member then dies its sessions are closed', async () => {
  await start();
  await aSession('read');
  lab.decide({ read: leaving('lagging') });
  await clock.advance(1_000_000);
  expect(lab.reasons()).toEqual([]);
  lab.decide({ read: leaving('dead') });
  await hasEnded('evicted_dead');
});

test('scenario 28: a member whose address changes is another server: sessions at the old one are removed', async () => {
  await start({ pools: [aWritePool(), aPool()] });
  await aSession('write');
  lab.decide({ write: { open: { 'pg-1': two.address } } });
  await hasEnded('evicted_removed');
});

/** Connects, and holds the result back until the test delivers it. */
function heldDial(): { readonly dial: Dial; readonly deliver: () => void; readonly waiting: () => number } {
  const results: (() => void)[] = [];
  return {
    dial: (address, limits, onResult) => {
      let isAborted = false;
      const abort = dialTcp(address, limits, (result) => {
        results.push(() => {
          if (!isAborted) onResult(result);
        });
      });
      return () => {
        isAborted = true;
        abort();
      };
    },
    deliver: () => {
      for (const deliver of results.splice(0)) deliver();
    },
    waiting: () => results.length,
  };
}

test('a dial under way to a member that leaves is dropped, and the client follows the table', async () => {
  const held = heldDial();
  await start({ dial: held.dial });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the dial', () => held.waiting() === 1);
  lab.decide({ write: demoted({ open: { 'pg-2': two.address } }) });
  await until('the second dial', () => held.waiting() === 2);
  held.deliver();
  await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
  expect(one.last().received().length).toBe(0);
  expect(lab.reasons()).toEqual([]);
});

test('a dial under way to a draining member is dropped too: there is no session to drain', async () => {
  const held = heldDial();
  await start({ dial: held.dial });
  const client = await connectRaw(lab.address('read'));
  client.socket.write(aStartup());
  await until('the dial', () => held.waiting() === 1);
  lab.decide({ read: leaving('tagged_out') });
  expect(lab.proxy.counts().get('read')?.members).toEqual(new Map([['pg-2', 1]]));
});

test('G3: a connect that succeeds after its member ceased to be open forwards nothing to it', async () => {
  const held = heldDial();
  await start({ dial: held.dial });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the dial', () => held.waiting() === 1);
  // `keep` does not evict: only the check right after the connect prevents the forward.
  const kept = { address: one.address, standing: { kind: 'keep', why: { code: 'no_answer' } } } as const;
  lab.decide({ write: { others: { 'pg-1': kept } } });
  held.deliver();
  await until('the hold', () => lab.proxy.counts().get('write')?.states.holding === 1);
  await until('the end of the connection', () => one.last().isClosed || one.last().hasEnded);
  expect(one.last().received().length).toBe(0);
});

test('G2: an exclusive pool requests fresh evidence first and follows the table that results', async () => {
  let asked = 0;
  await start({
    freshen: (pool) => {
      asked += 1;
      if (pool === 'write') lab.decide({ write: demoted({ open: { 'pg-2': two.address } }), read: firstOpen() });
      return Promise.resolve();
    },
  });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the session', () => two.connections.length === 1 && two.last().chunks.length > 0);
  expect(one.connections.length).toBe(0);
  expect(asked).toBe(1);
  await aSession('read');
  expect(asked).toBe(1);
});

test('a missing answer does not keep a client waiting', async () => {
  await start({ freshen: () => new Promise(() => {}) });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup());
  await until('the question', () => lab.proxy.counts().get('write')?.states.dialing === 1);
  await clock.advance(3_000);
  await until('the session', () => one.connections.length === 1 && one.last().chunks.length > 0);
});
