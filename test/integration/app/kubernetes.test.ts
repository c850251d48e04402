// Pointsman before a cluster of pods. Each replacement has another address, and Pointsman follows the pods in
// Kubernetes.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AppLab, fileFor } from '../../support/labs/app-lab.ts';
import { echoSession, isOver, stillEchoes } from '../../support/sockets/echo-session.ts';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { FakeApiServer } from '../../support/fakes/kubernetes/api-server.ts';
import { aPod, PODS } from '../../support/fakes/kubernetes/objects.ts';
import { until } from '../../support/waiting/until.ts';

const PROBE = { interval: '50ms', timeout: '1s', urgent: { interval: '20ms', for: '30s' } };

/** A member with its own address. All members share the API's port number. */
interface Pod {
  readonly api: FakeMember;
  readonly postgres: FakeBackend;
}

let kubernetes: FakeApiServer;
let lab: AppLab | undefined;
/** Made beforehand, so that their ports can be allowed. */
let backends: readonly FakeBackend[];
let pods = new Map<string, Pod>();
let port = 0;

beforeEach(async () => {
  [kubernetes, backends] = [
    await FakeApiServer.start(),
    await Promise.all([1, 2, 3, 4].map(() => startFakeBackend('echo'))),
  ];
  pods = new Map();
  port = 0;
});

afterEach(async () => {
  await lab?.app.stop();
  lab = undefined;
  for (const { api } of pods.values()) await api.stop();
  for (const backend of backends) await backend.stop();
  await kubernetes.stop();
});

/** Runs the pod `name`, or a replacement, at this address; the lists of all members name it. */
async function run(
  name: string,
  host: string,
  backend: number,
  role: 'primary' | 'replica',
  timeline = 1,
): Promise<void> {
  await pods.get(name)?.api.stop();
  const api = await FakeMember.start(name, { role, timeline }, { host, port });
  ({ port } = api.address);
  const postgres = backends[backend];
  if (postgres === undefined) throw new Error(`no backend ${backend}`);
  pods.set(name, { api, postgres });
  const members = [...pods.values()].map((pod) => pod.api.entry({ ...pod.postgres.address }));
  for (const pod of pods.values()) pod.api.set({ cluster: { members, scope: 'demo' } });
  kubernetes.put(PODS, aPod(name, host, { role }));
}

async function startLab(): Promise<AppLab> {
  const cluster = {
    scope: 'demo',
    kubernetes: { server: kubernetes.url, credentials: kubernetes.credentials, port },
    allow: { networks: ['127.0.0.0/8'], ports: backends.map(({ address }) => address.port) },
  };
  lab = await AppLab.start(fileFor([], { cluster, probe: PROBE, pools: { read: { drain_timeout: '100ms' } } }));
  return lab;
}

function sessionsOn(backend: number): number {
  return backends[backend]?.connections.filter((connection) => connection.received().length > 0).length ?? 0;
}

test('scenario 28: a pod is replaced: its sessions end, others live, new ones use the new address', async () => {
  await run('pg-0', '127.0.0.11', 0, 'primary');
  await run('pg-1', '127.0.0.12', 1, 'replica');
  const started = await startLab();
  await until('the replica', () =>
    started.said('route_changed').some(({ members }) => String(members).includes('pg-1')),
  );
  const [writer, reader] = [await echoSession(started.address('write')), await echoSession(started.address('read'))];
  await run('pg-1', '127.0.0.13', 2, 'replica');
  await until('the end of the old session', () => isOver(reader), 15_000);
  await until('a session on the new pod', async () => {
    await echoSession(started.address('read'));
    return sessionsOn(2) > 0;
  });
  await stillEchoes(writer);
  expect([sessionsOn(0) >= 1, sessionsOn(1)]).toEqual([true, 1]);
});

test('every pod is replaced at once: Kubernetes has the addresses that no member can report', async () => {
  await run('pg-0', '127.0.0.11', 0, 'primary');
  await run('pg-1', '127.0.0.12', 1, 'replica');
  const started = await startLab();
  const live = await echoSession(started.address('write'));
  for (const { api } of pods.values()) await api.stop();
  for (const backend of [0, 1]) await backends[backend]?.stop();
  await until('the end of the live session', () => isOver(live), 15_000);
  await run('pg-1', '127.0.0.14', 3, 'primary', 2);
  await run('pg-0', '127.0.0.13', 2, 'replica', 2);
  const held = await echoSession(started.address('write'));
  await stillEchoes(held);
  expect(sessionsOn(3)).toBe(1);
});

test('G2: a role label alone routes no session', async () => {
  await run('pg-0', '127.0.0.11', 0, 'primary');
  await run('pg-1', '127.0.0.12', 1, 'replica');
  const started = await startLab();
  await until('a watch', () => kubernetes.watchers === 1);
  const asked = pods.get('pg-0')?.api.requests.length ?? 0;
  kubernetes.put(PODS, aPod('pg-1', '127.0.0.12', { role: 'primary' }));
  kubernetes.put(PODS, aPod('pg-0', '127.0.0.11', { role: 'replica' }));
  await until('some rounds more', () => (pods.get('pg-0')?.api.requests.length ?? 0) > asked + 20);
  await stillEchoes(await echoSession(started.address('write')));
  expect([sessionsOn(0), sessionsOn(1)]).toEqual([1, 0]);
});

test('/status shows for how long Kubernetes has been silent, and the members stay', async () => {
  await run('pg-0', '127.0.0.11', 0, 'primary');
  await run('pg-1', '127.0.0.12', 1, 'replica');
  const started = await startLab();
  await until('a watch', () => kubernetes.watchers === 1);
  kubernetes.mood = 'unavailable';
  kubernetes.cutWatches();
  const line = await until(
    'the warning',
    () => started.said('contact_source_changed').find(({ level }) => level === 'warn'),
    20_000,
  );
  expect(line['msg']).toMatch(/^kubernetes pods application=patroni,cluster-name=demo: no update for .*, keeping /);
  const status: unknown = JSON.parse(await started.ask('/status'));
  expect(status).toMatchObject({
    cluster: {
      contact_sources: [
        {
          contact_points: [`127.0.0.11:${port}`, `127.0.0.12:${port}`],
          // The end of the watch or the answer after it, in the order of arrival.
          failing: { for_seconds: expect.any(Number), why: expect.any(String) },
        },
      ],
    },
    members: [{ name: 'pg-0' }, { name: 'pg-1' }],
  });
}, 30_000);
