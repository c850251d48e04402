// `kill -9` of the primary while its standby is behind, with `moves.mode: always`. The session that was told of the
// lost row ends; a session that was idle since before goes on at the next primary, and its client notices nothing.
import { afterEach, expect, it } from 'vitest';
import { HeldSession } from '../support/applications/held-session.ts';
import type { ClusterUnderTest } from '../support/clusters/cluster-under-test.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { SERVER_NAME, serverName } from '../support/clusters/server-name.ts';
import { monotonicMs } from '../support/patroni/wait.ts';
import { until } from '../support/waiting/until.ts';

const PATIENCE_MS = 60_000;
/** Longer than a session has to be idle, with a report of the primary behind it. */
const IDLE_MS = 8_000;

/** `replication`: whether a standby may stream from the member. */
async function permit(cluster: ClusterUnderTest, name: string, replication: 'scram-sha-256' | 'reject'): Promise<void> {
  const lines = [
    `host all ${cluster.app.user} 127.0.0.1/32 trust`,
    'host all all 127.0.0.1/32 scram-sha-256',
    `host replication all 127.0.0.1/32 ${replication}`,
  ];
  const [row] = await cluster.sql(name, 'show hba_file');
  const rows = lines.map((line) => `('${line}')`).join(', ');
  await cluster.sql(name, `copy (values ${rows}) to '${String(row?.['hba_file'])}'`);
  await cluster.sql(name, 'select pg_reload_conf()');
}

const sessions: HeldSession[] = [];

async function beIdle(): Promise<void> {
  const since = monotonicMs();
  await until('a session that is idle for long', () => monotonicMs() > since + IDLE_MS, PATIENCE_MS);
}

describeOnEveryCluster('a primary that is lost without warning', (on) => {
  const lab = on.clusterWithPointsman({
    cluster: { members: 2 },
    sql: 'create table told (id int)',
    pointsman: (cluster) => Promise.resolve({ moves: { mode: 'always', roles: [cluster.app.user] } }),
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
  });

  async function open(): Promise<HeldSession> {
    const session = await HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
    sessions.push(session);
    return session;
  }

  it('G24: ends the session that was told of the lost row, and the idle one goes on', async () => {
    const { cluster, pointsman } = lab;
    for (const { name } of cluster.members()) await permit(cluster, name, 'scram-sha-256');
    await pointsman.waitUntilReady();
    await cluster.waitUntilHealthy();
    const old = await cluster.leader();
    const [standby] = cluster.members().filter(({ name }) => name !== old.name);
    if (standby === undefined) throw new Error('no standby');
    const idle = await open();
    await idle.client.query("set work_mem = '7MB'");
    await beIdle();
    await permit(cluster, old.name, 'reject');
    const isBehind = async (): Promise<boolean> => {
      await cluster.sql(old.name, 'select pg_terminate_backend(pid) from pg_stat_replication');
      return (await cluster.sql(old.name, 'select 1 from pg_stat_replication')).length === 0;
    };
    await until('a standby that receives nothing', isBehind, PATIENCE_MS);
    const told = await open();
    await told.client.query('insert into told values (101)');
    await beIdle();

    await cluster.kill(old.name);
    await until('the end of the session that was told', () => told.endedAtMs !== undefined, PATIENCE_MS);
    expect(told.endedWith).toContain('(move_uncovered)');
    const { rows } = await idle.client.query<{ server: string; memory: string; lost: string }>(
      `select ${SERVER_NAME} as server, current_setting('work_mem') as memory, (select count(*) from told) as lost`,
    );
    expect(rows).toEqual([{ server: serverName(standby), memory: '7MB', lost: '0' }]);
    expect(idle.endedAtMs).toBeUndefined();
  });
});
