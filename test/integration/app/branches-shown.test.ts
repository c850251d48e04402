// A session on a branch, as each surface of the whole program shows it: documents, metrics, access log, incidents.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { AppLab, FakeCluster, fileFor } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef-operator';

let cluster: FakeCluster;
let branch: FakeBackend;
let lab: AppLab;

beforeEach(async () => {
  [cluster, branch] = await Promise.all([FakeCluster.start(), startFakeBackend()]);
  lab = await AppLab.start(file());
});

afterEach(async () => {
  await lab.app.stop();
  await branch.stop();
  await cluster.stop();
});

function file(): ConfigFile {
  return fileFor([cluster.primary, cluster.replica], {
    admin: { address: '127.0.0.1:0', token: TOKEN },
    branches: { source: 'static', static: { 'pr-1': `127.0.0.1:${branch.address.port}`, 'pr-2': '127.0.0.1:1' } },
    log: { access: 'all' },
  });
}

async function connect(target: string): Promise<RawClient> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(aStartup({ user: 'app', database: `shop@${target}` }));
  return client;
}

async function aSession(): Promise<RawClient> {
  const client = await connect('pr-1');
  await until('the echo', () => client.received().length > 0);
  return client;
}

async function documentOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${lab.admin}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return Object(await response.json());
}

test('every document names the branch and counts its session, and the pools have none', async () => {
  const { socket } = await aSession();
  expect(await documentOf('/branches')).toMatchObject({
    source: 'static',
    failing: null,
    silent_workers: [],
    branches: [
      { id: 'pr-1', name: 'pr-1', parent_id: null, rule: 'static', sessions: 1, why_no_backend: null },
      { id: 'pr-2', backend: '127.0.0.1:1', read_backend: '127.0.0.1:1', sessions: 0 },
    ],
  });
  const status = await documentOf('/status');
  expect(status).toMatchObject({
    branches: { source: 'static', branches: 2, failing: null, sessions: { by_state: { relaying: 1 }, by_member: {} } },
    pools: [{ name: 'write', sessions: { by_state: { relaying: 0 } } }, { name: 'read' }],
  });
  expect(await documentOf('/sessions?pool=branches')).toMatchObject({
    total: 1,
    sessions: [
      { pool: 'branches', member: null, branch: { id: 'pr-1', name: 'pr-1' }, database: 'shop', state: 'relaying' },
    ],
  });
  expect(await lab.metric('pointsman_sessions{pool="branches",state="relaying"}')).toBe(1);
  expect(await lab.metric('pointsman_branches{source="static"}')).toBe(2);
  expect(await lab.metric('pointsman_branch_lookups_total{result="found"}')).toBe(1);
  expect(await lab.metric('pointsman_branch_waits_total{outcome="connected"}')).toBe(1);
  expect(await lab.metric('pointsman_dials_total{member="pg-1",outcome="connected"}')).toBeUndefined();
  socket.destroy();
  await until('the end', async () => (await lab.metric('pointsman_sessions{pool="branches",state="relaying"}')) === 0);
  expect(lab.said('access')).toMatchObject([
    { action: 'opened', pool: 'branches', branch: { id: 'pr-1', name: 'pr-1' }, database: 'shop' },
    { action: 'closed', pool: 'branches', branch: { id: 'pr-1', name: 'pr-1' }, reason: 'client_closed' },
  ]);
  expect(lab.said('access').filter((line) => 'member' in line)).toEqual([]);
});

test('a refused client is counted with its reason, and makes no incident', async () => {
  const client = await connect('pr-9');
  const error = await until('the error', () => errorFields(client.received()));
  expect(error).toMatchObject({ C: '3D000' });
  client.socket.destroy();
  const closed = 'pointsman_sessions_closed_total{pool="branches",reason="unknown_branch"}';
  await until('the end', async () => (await lab.metric(closed)) === 1);
  expect(await lab.metric('pointsman_branch_lookups_total{result="unknown"}')).toBe(1);
  expect(await documentOf('/incidents')).toMatchObject({ incidents: [] });
});

test('the pool of branches is known before the first session: as a filter, and with series at 0', async () => {
  expect(await lab.metric('pointsman_sessions_closed_total{pool="branches",reason="branch_unreachable"}')).toBe(0);
  expect(await documentOf('/sessions?pool=branches')).toMatchObject({ total: 0, sessions: [] });
});

test('without the section there is no trace of branches', async () => {
  const { branches: _, ...rest } = file();
  await lab.reload(rest);
  expect(await documentOf('/branches')).toMatchObject({ error: expect.stringContaining('no branches') });
  expect(await documentOf('/status')).not.toHaveProperty('branches');
  expect(await documentOf('/sessions?pool=branches')).toMatchObject({ error: expect.stringContaining('unknown pool') });
  expect(await lab.metric('pointsman_branches{source="static"}')).toBeUndefined();
});
