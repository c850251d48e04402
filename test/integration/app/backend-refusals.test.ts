// Scenario 38: a server that says no speaks for itself: its words are relayed, and what it is good for is judged by its API.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppLab, FakeCluster } from '../../support/app-lab.ts';
import { aStartup, errorFields } from '../../support/packets.ts';
import { connectRaw } from '../../support/raw-client.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';

let cluster: FakeCluster;
let lab: AppLab;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  lab = await AppLab.start({
    cluster: cluster.section(),
    listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    admin: { address: '127.0.0.1:0' },
  });
});

afterEach(async () => {
  await lab.app.stop();
  await cluster.stop();
});

async function aClient(pool: string): Promise<RawClient> {
  const address = lab.said('listening').find((line) => line['pool'] === pool)?.['address'];
  const client = await connectRaw({ host: '127.0.0.1', port: Number(String(address).split(':')[1]) });
  client.socket.write(aStartup());
  return client;
}

test.each([
  ['write', 'stopping', '57P03', 'the database system is shutting down'],
  ['write', 'full', '53300', 'sorry, too many clients already'],
  ['read', 'stopping', '57P03', 'the database system is shutting down'],
  ['read', 'full', '53300', 'sorry, too many clients already'],
] as const)(
  'scenario 38: in the pool %s a server that is %s: %s as it is, and it stays in its place',
  async (...one) => {
    const [pool, behaviour, code, message] = one;
    const { api, postgres } = pool === 'write' ? cluster.primary : cluster.replica;
    const told = lab.lines.length;
    postgres.behaviour = behaviour;
    for (let times = 0; times < 3; times += 1) {
      const client = await aClient(pool);
      await until('the end', () => client.hasEnded);
      expect(errorFields(client.received())).toEqual({ S: 'FATAL', V: 'FATAL', C: code, M: message });
      client.socket.end();
    }
    postgres.behaviour = 'echo';
    const live = await aClient(pool);
    await until('the session', () => live.received().equals(aStartup()));
    const asked = api.requests.length;
    await until('two more rounds', () => api.requests.length > asked + 1);
    expect(lab.lines.slice(told)).toEqual([]);
    live.socket.end();
  },
);
