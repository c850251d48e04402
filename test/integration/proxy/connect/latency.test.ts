// `balance: latency` over real sockets: a member whose replies are slow gets few of the next sessions, and its estimate
// ends with its news. The servers move the clock before they answer.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Balance } from '../../../../src/model/policy.ts';
import { startTimedServer, type TimedServer } from '../../../support/fakes/timed-server.ts';
import { startProxyLab, type ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { aMessage } from '../../../support/sockets/messages.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { aPool } from '../../../support/values/builders.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const QUERY = aMessage('Q', Buffer.from('select 1\0'));
const IS_READY = aMessage('Z', Buffer.from('I'));

let clock: ManualClock;
let one: TimedServer;
let other: TimedServer;
let lab: ProxyLab;

beforeEach(async () => {
  clock = new ManualClock();
  one = await startTimedServer(() => clock.advance(1));
  other = await startTimedServer(() => clock.advance(20));
});

afterEach(async () => {
  await lab.end();
  await Promise.all([one.stop(), other.stop()]);
});

async function start(balance: Balance = 'latency'): Promise<void> {
  const read: PoolPicture = { open: { one: one.address, other: other.address } };
  lab = await startProxyLab({ clock, pools: [aPool({ balance })], table: { read } });
}

async function logIn(): Promise<RawClient> {
  const client = await lab.connect('read');
  await until('the login', () => client.received().subarray(-IS_READY.length).equals(IS_READY));
  return client;
}

async function query(client: RawClient, times: number): Promise<void> {
  for (let asked = 0; asked < times; asked += 1) {
    const before = client.received().length;
    client.socket.write(QUERY);
    await until('the answer', () => client.received().length > before);
  }
}

async function logInMany(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await logIn();
}

test('the slow member gets none of the next sessions, and its third again when its time is old', async () => {
  await start();
  const clients = [await logIn(), await logIn()];
  expect([one.open(), other.open()]).toEqual([1, 1]);
  for (const client of clients) await query(client, 10);
  await logInMany(8);
  expect([one.open(), other.open()]).toEqual([9, 1]);
  const known = lab.proxy.counts().get('read')?.latency;
  expect(known?.get('one')).toMatchObject({ requestMs: expect.closeTo(1), share: 1 });
  expect(known?.get('other')).toMatchObject({ requestMs: expect.closeTo(20) });
  expect(known?.get('other')?.share).toBeLessThan(0.02);

  await clock.advance(120_000);
  await logInMany(6);
  expect(other.open()).toBeGreaterThanOrEqual(5);
});

test('with least_sessions nothing is measured', async () => {
  await start('least_sessions');
  const clients = [await logIn(), await logIn()];
  for (const client of clients) await query(client, 10);
  await logInMany(8);
  expect([one.open(), other.open()]).toEqual([5, 5]);
  expect(lab.proxy.counts().get('read')?.latency?.size).toBe(0);
});

test('a member that cannot be connected to counts as slow', async () => {
  await start();
  await other.stop();
  await logInMany(4);
  expect(lab.proxy.counts().get('read')?.latency?.get('other')?.loginMs).toBeCloseTo(1_000);
});
