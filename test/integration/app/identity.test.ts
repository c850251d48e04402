// Addresses are not members. An address that answers for another cluster is not a member of ours; a member that moves
// is reached at its new address.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppLab, fileFor, startFakeServer, stopServers } from '../../support/labs/app-lab.ts';
import type { FakeServer } from '../../support/labs/app-lab.ts';
import { echoSession, isOver, stillEchoes } from '../../support/sockets/echo-session.ts';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { until } from '../../support/waiting/until.ts';

const PROBE = { interval: '50ms', timeout: '1s', urgent: { interval: '20ms', for: '30s' } };

let first: FakeServer;
let second: FakeServer;
let lab: AppLab;

beforeEach(async () => {
  first = await startFakeServer('pg-1', { role: 'primary' });
  second = await startFakeServer('pg-2');
});

afterEach(async () => {
  await lab.app.stop();
  await stopServers([first, second]);
});

/** Connections that received bytes. A probe of the port sends none; it runs when the API is late. */
function sessionsOn({ connections }: FakeBackend): number {
  return connections.filter((connection) => connection.received().length > 0).length;
}

test('scenario 28: an address answers for another cluster: no new sessions, live ones drain, a log line', async () => {
  lab = await AppLab.start(fileFor([first, second], { probe: PROBE }));
  const live = await echoSession(lab.address('read'));
  second.api.set({ scope: 'billing', systemIdentifier: '7000000000000000002' });
  const told = () => lab.lines.find(({ level, msg }) => level === 'warn' && String(msg).includes('pool read: pg-2: '));
  expect(await until('the warning', told)).toMatchObject({ msg: expect.stringContaining('billing') });
  await stillEchoes(live);
  await echoSession(lab.address('read'));
  expect([sessionsOn(first.postgres), sessionsOn(second.postgres)]).toEqual([1, 1]);
  expect(await lab.metric('pointsman_member_standing{pool="read",member="pg-2",standing="leave"}')).toBe(1);
  expect(await lab.ask('/status')).toContain('billing');
});

test('scenario 28: a member that moves: new sessions find it, those at the old address drain', async () => {
  const moved = await startFakeBackend('echo');
  try {
    const apis = [first.api, second.api].map(({ address }) => address.port);
    const servers = [first.postgres, second.postgres, moved].map(({ address }) => address.port);
    const list = (replica: FakeBackend) => {
      const members = [first.api.entry({ ...first.postgres.address }), second.api.entry({ ...replica.address })];
      for (const { api } of [first, second]) api.set({ cluster: { members, scope: 'demo' } });
    };
    list(second.postgres);
    lab = await AppLab.start({
      ...fileFor([], { probe: PROBE, pools: { read: { drain_timeout: '100ms' } } }),
      cluster: { seeds: [first.api.url], allow: { ports: [...apis, ...servers] } },
    });
    await until('the replica', () => lab.said('route_changed').some(({ members }) => String(members).includes('pg-2')));
    const live = await echoSession(lab.address('read'));
    list(moved);
    // A change of route triggers a new read of the list.
    first.api.set({ state: 'stopping' });
    await until('the end of the old session', () => isOver(live), 15_000);
    first.api.set({ state: 'running' });
    const isOpen = 'pointsman_member_standing{pool="read",member="pg-2",standing="open"}';
    await until('its first answer at the new address', async () => (await lab.metric(isOpen)) === 1);
    await echoSession(lab.address('read'));
    expect([sessionsOn(second.postgres), sessionsOn(moved)]).toEqual([1, 1]);
    expect(lab.reasons()).toEqual(['evicted_removed']);
  } finally {
    await moved.stop();
  }
});
