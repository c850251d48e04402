// The route of writes while members contradict each other, change their answers or take long to be promoted. The whole
// program on real sockets, before fake APIs and servers.
import { afterEach, expect, test } from 'vitest';
import { AppLab, fileFor, startFakeServer, stopServers } from '../../support/labs/app-lab.ts';
import type { FakeServer } from '../../support/labs/app-lab.ts';
import { askingClient, echoSession, isOver, isServed, stillEchoes } from '../../support/sockets/echo-session.ts';
import type { FakeMemberKnobs } from '../../support/fakes/fake-member.ts';
import { waitUntil } from '../../support/waiting/wait.ts';
import { until } from '../../support/waiting/until.ts';

const QUICK = { probe: { interval: '50ms', timeout: '1s', urgent: { interval: '20ms', for: '30s' } } };

let lab: AppLab | undefined;
const servers: FakeServer[] = [];

afterEach(async () => {
  await lab?.app.stop();
  lab = undefined;
  await stopServers(servers.splice(0));
});

async function started(...knobs: readonly Partial<FakeMemberKnobs>[]) {
  for (const [index, one] of knobs.entries()) servers.push(await startFakeServer(`pg-${index + 1}`, one));
  lab = await AppLab.start(fileFor(servers, QUICK));
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('two servers are needed');
  return { first, second, app: lab };
}

/** Connections that received bytes. A probe of the port sends none; it runs when the API is late. */
function sessionsOn({ postgres }: FakeServer): number {
  return postgres.connections.filter((connection) => connection.received().length > 0).length;
}

/** Resolves when the member has been probed that many times more. */
async function probed({ api }: FakeServer, times: number): Promise<void> {
  const enough = api.requests.length + times;
  await until(`${times} probes`, () => api.requests.length >= enough);
}

test('scenario 4: during the promotion clients wait; they are released when the role flips', async () => {
  const { first, second, app } = await started({ role: 'primary' }, {});
  first.api.set({ role: 'replica', hasLock: false });
  second.api.set({ hasLock: true });
  await until('nobody', () => app.said('route_changed').some(({ to }) => JSON.stringify(to).includes('hold')));
  const waiting = await askingClient(app.address('write'));
  await probed(second, 20);
  expect(waiting.received()).toHaveLength(0);
  expect(isOver(waiting)).toBe(false);
  expect(sessionsOn(second)).toBe(0);
  second.api.set({ role: 'primary', timeline: 2 });
  await until('the session', () => isServed(waiting));
  expect(sessionsOn(second)).toBe(1);
});

test('scenario 3: PostgreSQL ends the sessions of a stopping primary, until another primary is proven', async () => {
  const { first, second, app } = await started({ role: 'primary' }, {});
  const live = await echoSession(app.address('write'));
  first.api.set({ hasLock: false, state: 'stopping' });
  await until('nobody', () => app.said('route_changed').some(({ to }) => JSON.stringify(to).includes('hold')));
  await probed(first, 5);
  await stillEchoes(live);
  second.api.set({ role: 'primary', hasLock: true, timeline: 2 });
  await until('its end', () => isOver(live));
  expect(app.reasons()).toEqual(['evicted_demoted']);
});

test('scenario 9: two members claim primary: the higher timeline wins; sessions of the other one end', async () => {
  const { first, second, app } = await started({ role: 'primary' }, {});
  const live = await echoSession(app.address('write'));
  second.api.set({ role: 'primary', hasLock: true, timeline: 2 });
  await until('its end', () => isOver(live));
  expect(app.reasons()).toEqual(['evicted_demoted']);
  const [old] = first.postgres.connections.filter((connection) => connection.received().length > 0);
  const sent = old?.received().length;
  await echoSession(app.address('write'));
  expect([sessionsOn(first), sessionsOn(second)]).toEqual([1, 1]);
  expect(old?.received().length).toBe(sent);
});

test('scenario 9: on equal timelines new clients wait, live sessions stay, and the log raises an alarm', async () => {
  const { first, second, app } = await started({ role: 'primary' }, {});
  const live = await echoSession(app.address('write'));
  second.api.set({ role: 'primary', hasLock: true });
  const alarm = () =>
    app.lines.find(({ level, msg }) => level === 'error' && String(msg).includes('two members claim to be primary'));
  await until('the alarm', alarm);
  const waiting = await askingClient(app.address('write'));
  await probed(first, 5);
  await stillEchoes(live);
  expect(waiting.received()).toHaveLength(0);
  expect([sessionsOn(first), sessionsOn(second)]).toEqual([1, 0]);
  expect(await app.metric('pointsman_pool_route{pool="write",route="hold"}')).toBe(1);
  second.api.set({ role: 'replica', hasLock: false });
  await until('the session', () => isServed(waiting));
  expect([sessionsOn(first), sessionsOn(second)]).toEqual([2, 0]);
  await stillEchoes(live);
});

test('scenario 14: three members flap: returning clients cause no storm of connects, and a metric counts', async () => {
  const { app } = await started({ role: 'primary' }, {}, {});
  const changes = () => app.metric('pointsman_pool_route_changes_total{pool="write"}');
  const over = new AbortController();
  const clients = Array.from({ length: 8 }, async () => {
    let sessions = 0;
    while (!over.signal.aborted) {
      const client = await askingClient(app.address('write'));
      await until('its end', () => isOver(client) || over.signal.aborted, 30_000);
      if (isServed(client)) sessions += 1;
      client.socket.destroy();
    }
    return sessions;
  });
  for (let turn = 1; turn <= 12; turn += 1) {
    const before = (await changes()) ?? 0;
    for (const [index, { api }] of servers.entries()) {
      const isPrimary = index === turn % servers.length;
      api.set({ role: isPrimary ? 'primary' : 'replica', hasLock: isPrimary });
    }
    await waitUntil('another route', async () => ((await changes()) ?? 0) > before, { timeoutMs: 5000, everyMs: 5 });
  }
  over.abort();
  const sessions = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
  const counted = (await changes()) ?? 0;
  expect(counted).toBeGreaterThanOrEqual(12);
  expect(sessions).toBeGreaterThan(0);
  const connects = servers.reduce((sum, server) => sum + sessionsOn(server), 0);
  expect(connects, 'at most one connect of each client for each route').toBeLessThanOrEqual(8 * (counted + 1));
}, 60_000);

test('scenario 16: members of 3.x and of 4.x together, upgraded one after the other: no outage', async () => {
  const old = { version: '3.0.2', replicationState: undefined };
  const young = { version: '4.1.4', replicationState: 'streaming' };
  const { first, second, app } = await started({ role: 'master', ...old }, old);
  const writer = await echoSession(app.address('write'));
  const reader = await echoSession(app.address('read'));
  const routes = app.said('route_changed').length;
  for (const upgrade of [
    () => second.api.set(young),
    () => first.api.set({ ...young, role: 'primary' }),
    () => first.api.set({ ...old, role: 'master' }),
  ]) {
    upgrade();
    await probed(first, 5);
    await probed(second, 5);
    await echoSession(app.address('write'));
    await echoSession(app.address('read'));
  }
  await stillEchoes(writer);
  await stillEchoes(reader);
  expect(app.said('route_changed')).toHaveLength(routes);
  expect([sessionsOn(first), sessionsOn(second)]).toEqual([4, 4]);
});
