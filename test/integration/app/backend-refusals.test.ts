// Scenario 38: a server that refuses sends its own error. When no other server can be tried, Pointsman relays it. It
// judges the member by its API.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppLab, FakeCluster } from '../../support/labs/app-lab.ts';
import { TERMINATE } from '../../support/sockets/messages.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

let cluster: FakeCluster;
let lab: AppLab;

beforeEach(async () => {
  cluster = await FakeCluster.start();
  lab = await AppLab.start({
    hold: { client_timeout: '500ms' },
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
  'scenario 38: in the pool %s a server that is %s: %s unchanged, and it stays in its pool',
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
    const said = lab.lines.slice(told).map((line) => String(line['event']));
    expect(said).toContain('login_refused');
    expect(said).not.toContain('standing_changed');
    expect(said).not.toContain('route_changed');
    live.socket.end();
  },
);

test('clients that fail to log in, one after another, do not make the members be probed more often', async () => {
  const { api, postgres } = cluster.primary;
  postgres.behaviour = 'full';
  const asked = api.requests.length;
  const from = performance.now();
  for (let times = 0; times < 100; times += 1) {
    const client = await aClient('write');
    await until('the end', () => client.hasEnded);
    client.socket.end();
  }
  const rounds = Math.ceil((performance.now() - from) / 900) + 1;
  expect(api.requests.length - asked).toBeLessThanOrEqual(rounds);
});

test('a primary that is in recovery, although its API says yes: writers wait until it has left it', async () => {
  const { postgres } = cluster.primary;
  postgres.behaviour = 'standby';
  const first = await aClient('write');
  expect(await until('the error', () => errorFields(first.received()))).toMatchObject({ C: '57P03' });
  first.socket.end();
  const refused = await aClient('write');
  const error = await until('the end of its time', () => errorFields(refused.received()));
  expect(error).toMatchObject({ C: '57P03', D: expect.stringContaining('its server reports that it is in recovery') });
  expect(postgres.clients()).toBe(1);
  refused.socket.end();
  postgres.behaviour = 'obliging';
  await until('a welcome', async () => {
    const next = await aClient('write');
    await until('an answer', () => next.received().length > 0);
    next.socket.end(TERMINATE);
    return errorFields(next.received()) === undefined;
  });
  const told = lab.said('route_changed').filter(({ cause }) => cause === 'in_recovery');
  expect(told).toHaveLength(1);
});
