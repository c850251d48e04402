// Drains over sockets, of listeners and pools that a reload removed. Each session gets an error between two
// transactions, at a limited rate.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../../../src/model/member.ts';
import type { ProxyPolicy } from '../../../../src/proxy/options.ts';
import { aPool } from '../../../support/values/builders.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { GREETING, GreetedSession } from '../../../support/labs/greeted-session.ts';
import {
  aMessage,
  BIND,
  COMMAND_COMPLETE,
  EXECUTE,
  FLUSH,
  PARSE,
  readyForQuery,
  SYNC,
} from '../../../support/sockets/messages.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { LAB_POLICY, startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { until } from '../../../support/waiting/until.ts';

const ANYWHERE: Address = { host: '127.0.0.1', port: 0 };
const OTHER = aPool({ name: 'other', drainTimeoutMs: 60_000 });
const PARSED = aMessage('1');
const READ = aPool({ drainTimeoutMs: 60_000 });

let lab: ProxyLab;
let backend: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  backend = await startFakeBackend('silent');
  clock = new ManualClock();
  lab = await startProxyLab({ clock, pools: [READ, OTHER], table: { read: { open: { 'pg-2': backend.address } } } });
});

afterEach(() => lab.end(backend));

async function apply(changes: Partial<ProxyPolicy>): Promise<void> {
  const prepared = await lab.proxy.prepare({
    pools: [READ, OTHER],
    listeners: [{ address: ANYWHERE, pool: 'other' }],
    ...LAB_POLICY,
    ...changes,
  });
  if (prepared.kind === 'failed') throw new Error(prepared.message);
  prepared.apply();
}

function relaying(): number | undefined {
  return lab.proxy.counts().get('read')?.states.relaying;
}

/** A session whose client has had time for a first statement. */
async function aSession(): Promise<GreetedSession> {
  const session = await GreetedSession.open(lab.address('read'), backend);
  await clock.advance(500);
  return session;
}

test('a removed listener: idle sessions get an error at once, a busy one once idle, none is cut off', async () => {
  const idle = await aSession();
  const busy = await aSession();
  await busy.ask();
  const { port } = lab.address('read');
  await apply({});
  const told = {
    C: '57P01',
    M: expect.stringContaining('(evicted_removed)'),
    D: `listener 127.0.0.1:${port} is no longer configured`,
  };
  expect(await idle.lastWords()).toMatchObject(told);
  await clock.advance(59_000);
  expect(relaying()).toBe(1);
  await busy.answer('I');
  expect(await busy.lastWords()).toMatchObject(told);
  await until('both ends', () => lab.reasons().length === 2);
  expect(clock.pending()).toBe(1);
});

test('a client that has only prepared runs its statement first, or has had the time for it', async () => {
  const [quick, quiet] = [await aSession(), await aSession()];
  for (const { client, server } of [quick, quiet]) {
    client.socket.write(Buffer.concat([PARSE, FLUSH]));
    await until('the statement', () => server.received().includes(FLUSH));
    server.socket.write(PARSED);
    await until('its answer', () => client.received().length === GREETING.length + PARSED.length);
  }
  await apply({});
  quick.client.socket.write(Buffer.concat([BIND, EXECUTE, SYNC]));
  await until('the run', () => quick.server.received().includes(SYNC));
  expect(relaying()).toBe(2);
  await clock.advance(500);
  await until('the end of the quiet one', () => relaying() === 1);
  quick.server.socket.write(Buffer.concat([aMessage('2'), COMMAND_COMPLETE, readyForQuery('I')]));
  await until('the end of the other one', () => relaying() === 0);
  for (const { client } of [quick, quiet]) client.socket.destroy();
});

test('a removed pool: its idle sessions get an error with that reason', async () => {
  const idle = await aSession();
  await apply({ pools: [OTHER] });
  expect(await idle.lastWords()).toMatchObject({ C: '57P01', D: expect.stringContaining('is no longer configured') });
});

test('a listener that returns keeps the sessions that were busy meanwhile', async () => {
  const busy = await aSession();
  await busy.ask();
  await apply({});
  await apply({ listeners: [{ address: lab.address('read'), pool: 'read' }] });
  await busy.answer('I');
  await busy.ask();
  await busy.answer('I');
  await clock.advance(120_000);
  expect(relaying()).toBe(1);
});

test('at most max_disconnects_per_second sessions per second', async () => {
  for (let count = 0; count < 4; count += 1) await aSession();
  await apply({
    client: {
      startupTimeoutMs: 10_000,
      maxSessions: 1_000,
      maxDisconnectsPerSecond: 2,
      tls: { mode: 'passthrough' },
    },
  });
  expect(relaying()).toBe(2);
  await clock.advance(500);
  expect(relaying()).toBe(1);
  await clock.advance(500);
  expect(relaying()).toBe(0);
});
