// The harness on a real cluster: each verb does what its name says, and no process or file is left behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { ask } from '../support/patroni/http.ts';
import { refusesConnections } from '../support/sockets/free-ports.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { monotonicMs, waitUntil } from '../support/waiting/wait.ts';

/** The command lines that contain the text, of all processes. */
function processesWith(text: string): string[] {
  const lines = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(readCommandLine);
  return lines.filter((line) => line.includes(text));
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

describeOnPatroni('a real Patroni cluster', () => {
  let cluster: PatroniCluster;

  async function countDirectWrites(name: string): Promise<number> {
    const [row] = await cluster.sql(name, 'select count(*)::int as count from direct_writes');
    return Number(row?.['count']);
  }

  async function writeDirectly(name: string): Promise<void> {
    await cluster.sql(name, `insert into direct_writes (member) values ('${name}')`, { as: cluster.app });
  }

  async function aReplica(): Promise<string> {
    const leader = await cluster.leader();
    return cluster.members().find((member) => member.name !== leader.name)?.name ?? 'none';
  }

  beforeAll(async () => {
    cluster = await startPatroniCluster();
  });
  afterAll(() => cluster.destroy());
  beforeEach(() => cluster.waitUntilHealthy());

  it('starts with pg-1 as leader, and all replicas stream from it', async () => {
    expect((await cluster.leader()).name).toBe('pg-1');
    const rows = await cluster.sql('pg-1', 'select application_name from pg_stat_replication order by 1');
    expect(rows).toEqual([{ application_name: 'pg-2' }, { application_name: 'pg-3' }]);
    expect(cluster.members().map(({ host }) => host)).toEqual(['127.0.0.11', '127.0.0.12', '127.0.0.13']);
  });

  it('switches over, and back as soon as the leader accepts it', async () => {
    expect((await cluster.switchover({ to: 'pg-2' })).name).toBe('pg-2');
    await cluster.waitUntilHealthy();
    const floor = cluster.watchFirstDirectWrite({ excluding: 'pg-2' });
    const acceptedAtMs = monotonicMs();
    await cluster.switchover({ to: 'pg-1', until: 'accepted' });
    const first = await floor.done;
    expect(first.member.name).toBe('pg-1');
    expect(first.atMs).toBeGreaterThan(acceptedAtMs);
    expect(first.primaryAnsweredAtMs).toBeLessThanOrEqual(first.primaryRoleAtMs ?? 0);
  });

  it('reports why a switchover was refused', async () => {
    await expect(cluster.switchover({ to: 'pg-9' })).rejects.toThrow(/candidate does not exist[^]*log of pg-1/);
  });

  it('kills a leader: its ports refuse, another member takes over within ttl, and the old one rejoins', async () => {
    const old = await cluster.leader();
    const floor = cluster.watchFirstDirectWrite({ excluding: old.name });
    const killedAtMs = monotonicMs();
    await cluster.kill(old.name);
    expect(await refusesConnections(old.host, old.port)).toBe(true);
    expect(processesWith(join(cluster.directory(), old.name))).toEqual([]);
    const first = await floor.done;
    expect(first.member.name).not.toBe(old.name);
    expect(first.atMs - killedAtMs).toBeLessThan(25_000);
    await cluster.start(old.name);
    expect((await cluster.leader()).name).toBe(first.member.name);
  });

  it('stops a replica cleanly and starts it again', async () => {
    const replica = await aReplica();
    await cluster.stop(replica);
    await expect(cluster.sql(replica, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
    await cluster.start(replica);
    expect(await cluster.sql(replica, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('freezes Patroni, and PostgreSQL goes on', async () => {
    const { name, api } = await cluster.leader();
    await cluster.freezeManager(name);
    expect(await ask(`${api}/patroni`, { timeoutMs: 500 })).toBeUndefined();
    await writeDirectly(name);
    await cluster.thawManager(name);
    expect((await ask(`${api}/patroni`))?.status).toBe(200);
  });

  it('freezes PostgreSQL: it neither answers nor refuses', async () => {
    const replica = await aReplica();
    await cluster.freezePostgres(replica);
    await expect(cluster.sql(replica, 'select 1', { timeoutMs: 500 })).rejects.toThrow(/timeout/);
    await cluster.thawPostgres(replica);
    expect(await cluster.sql(replica, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('lets a replica lag and catch up', async () => {
    const [leader, replica] = [await cluster.leader(), await aReplica()];
    const before = await countDirectWrites(leader.name);
    await cluster.waitUntil('replica caught up', async () => (await countDirectWrites(replica)) === before, 15_000);
    await cluster.lagReplica(replica);
    await writeDirectly(leader.name);
    const receivesMore = `select pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn() as lags`;
    await cluster.waitUntil(
      'lag',
      async () => (await cluster.sql(replica, receivesMore))[0]?.['lags'] === true,
      15_000,
    );
    expect(await countDirectWrites(replica)).toBe(before);
    await cluster.unlagReplica(replica);
    await cluster.waitUntil('caught up', async () => (await countDirectWrites(replica)) === before + 1, 15_000);
  });

  it('sets and removes tags', async () => {
    const replica = await aReplica();
    const { api } = cluster.member(replica);
    await cluster.setTags(replica, { noloadbalance: true, zone: 'eu-1' });
    expect((await ask(`${api}/replica`))?.status).toBe(503);
    await cluster.setTags(replica, {});
    expect((await ask(`${api}/replica`))?.status).toBe(200);
  });

  it('keeps its leader without etcd in failsafe mode', async () => {
    const leader = await cluster.leader();
    await cluster.patchConfig({ failsafe_mode: true });
    // The replicas have to know the mode too: without their consent the leader demotes itself.
    const maps = () => Promise.all(cluster.members().map(({ api }) => ask(`${api}/failsafe`)));
    const knowIt = async () => (await maps()).every((answer) => answer?.status === 200);
    await cluster.waitUntil('failsafe map on every member', knowIt, 10_000);
    await cluster.stopEtcd();
    try {
      const isActive = async () => (await ask(`${leader.api}/primary`))?.text.includes('failsafe_mode_is_active');
      await cluster.waitUntil('failsafe active', isActive, 15_000);
      await writeDirectly(leader.name);
    } finally {
      await cluster.startEtcd();
    }
    await cluster.patchConfig({ failsafe_mode: null });
    expect((await cluster.leader()).name).toBe(leader.name);
  });

  it('adds and removes a member', async () => {
    const added = await cluster.addMember('pg-4');
    expect(await cluster.sql('pg-4', 'select pg_is_in_recovery() as replica')).toEqual([{ replica: true }]);
    await cluster.removeMember('pg-4');
    expect(cluster.members()).toHaveLength(3);
    expect(await refusesConnections(added.host, added.port)).toBe(true);
  });

  it('reports the state of the cluster when a wait fails', async () => {
    const never = cluster.waitUntil('the impossible', () => Promise.resolve(false), 100);
    await expect(never).rejects.toThrow(/the impossible: not within 100 ms[^]*\/cluster: .*"leader"[^]*log of pg-3/);
  });

  it('leaves nothing behind when its test runner is killed', async () => {
    const harness = join(import.meta.dirname, '../support/patroni/start-cluster.ts');
    const script = `const { startPatroniCluster } = await import(${JSON.stringify(harness)});
      console.log((await startPatroniCluster({ members: 1 })).directory());`;
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const directory = String(await once(createInterface({ input: runner.stdout }), 'line'));
    expect(processesWith(directory).length).toBeGreaterThan(3);
    runner.kill('SIGKILL');
    const isGone = () => Promise.resolve(processesWith(directory).length === 0 && !existsSync(directory));
    await waitUntil('the orphaned cluster gone', isGone, { timeoutMs: 10_000 });
  });

  it('leaves nothing behind when it is destroyed', async () => {
    const directory = cluster.directory();
    expect(processesWith(directory).length).toBeGreaterThan(7);
    await cluster.destroy();
    expect(processesWith(directory)).toEqual([]);
    expect(existsSync(directory)).toBe(false);
    for (const { host, port } of cluster.members()) expect(await refusesConnections(host, port)).toBe(true);
  });
});
