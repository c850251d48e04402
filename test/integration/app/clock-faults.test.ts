// Scenario 41: the wall clock jumps, the event loop stands still. Neither is a fault of a member.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AppLab, FakeCluster } from '../../support/labs/app-lab.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;
let sessions: readonly RawClient[];
/** Lines logged before the fault. */
let told: number;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  lab = await AppLab.start({
    cluster: cluster.section(),
    listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    admin: { address: '127.0.0.1:0' },
  });
  sessions = [await aSession('write'), await aSession('read')];
  told = lab.lines.length;
});

afterEach(async () => {
  vi.restoreAllMocks();
  await lab.app.stop();
  await cluster.stop();
});

async function aSession(pool: string): Promise<RawClient> {
  const address = lab.said('listening').find((line) => line['pool'] === pool)?.['address'];
  const client = await connectRaw({ host: '127.0.0.1', port: Number(String(address).split(':')[1]) });
  client.socket.write(aStartup());
  await until('the session', () => client.received().equals(aStartup()));
  return client;
}

async function twoMoreRounds(): Promise<void> {
  const { requests } = cluster.primary.api;
  const asked = requests.length;
  await until('two more rounds', () => requests.length > asked + 1, 10_000);
}

async function stillThere(): Promise<void> {
  for (const { socket } of sessions) socket.write('still there');
  await until('the echoes', () => sessions.every((session) => session.received().includes('still there')));
}

test('scenario 41: the wall clock jumps an hour either way: no effect', async () => {
  for (const hours of [1, -1]) {
    vi.spyOn(Date, 'now').mockReturnValue(new Date().valueOf() + hours * 3_600_000);
    await twoMoreRounds();
  }
  await stillThere();
  expect(lab.lines.slice(told)).toEqual([]);
});

test('scenario 41: the event loop stands still for 5 s: no session ends; new clients are served after', async () => {
  const ends = performance.now() + 5_000;
  while (performance.now() < ends);
  await stillThere();
  await twoMoreRounds();
  expect(lab.said('session_closed')).toEqual([]);
  // The summary counts refused clients: none.
  const text = JSON.stringify(lab.lines.slice(told).filter((line) => line['event'] !== 'outage_summary'));
  expect(text).not.toMatch(/demoted|"leave"|refused/);
  sessions = [await aSession('write'), await aSession('read')];
});
