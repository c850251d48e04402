// Scenarios 18 and 20: a replica that does not replay leaves the read pools, even if its own API misses the lag.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { countByServer, HeldSession } from '../support/applications/held-session.ts';
import { ask } from '../support/patroni/http.ts';
import { shownMembers } from '../support/processes/pointsman-status.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { writeWal } from '../support/clusters/write-wal.ts';
import { monotonicMs } from '../support/waiting/wait.ts';

const CHECK = '/replica?lag=16MB';
const MORE_THAN_THE_BOUND_MB = 32;
const POLICIES = ['keep', 'drain', 'close'] as const;
const STALENESS_S = 3;
/** Two probe intervals more are promised; a busy machine gets more time. */
const LEAVES_MS = 15_000;

describeOnEveryCluster('a replica that lags', (on) => {
  const pools = POLICIES.map((policy) => [
    policy,
    { check: CHECK, on_leave: { lagging: policy }, drain_timeout: '1s', slow_start: 0 },
  ]);
  const others = {
    late: { check: CHECK, when_all_lagging: 'least_lagging', slow_start: 0 },
    fresh: { check: '/replica', max_staleness: `${STALENESS_S}s`, slow_start: 0 },
  };
  const lab = on.clusterWithPointsman({
    pointsman: {
      pools: { ...Object.fromEntries(pools), ...others },
      listeners: [...POLICIES, 'late', 'fresh'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    },
  });

  it('scenario 18: no new sessions; the policy keeps, drains or closes live ones; without lag it returns', async () => {
    const { cluster, pointsman } = lab;
    const [lagging, other] = await replicasOf(cluster);
    const live = new Map<string, readonly HeldSession[]>();
    for (const policy of POLICIES) {
      await waitForMembers(lab, policy, [lagging, other]);
      const sessions = await HeldSession.openMany(4, await pointsman.port(policy), cluster.app);
      live.set(
        policy,
        sessions.filter(({ server }) => server === serverName(lagging)),
      );
      expect(live.get(policy)).toHaveLength(2);
    }

    await cluster.lagReplica(lagging.name);
    await writeWal(cluster, MORE_THAN_THE_BOUND_MB);
    for (const policy of POLICIES) await waitForMembers(lab, policy, [other]);
    for (const policy of ['drain', 'close']) {
      const haveEnded = () => live.get(policy)?.every(({ endedAtMs }) => endedAtMs !== undefined);
      await pointsman.waitFor(`the end of sessions by ${policy}`, haveEnded);
    }
    for (const session of live.get('keep') ?? []) {
      const { rows } = await session.client.query('select 1 as one');
      expect(rows).toEqual([{ one: 1 }]);
    }
    const later = await HeldSession.openMany(4, await pointsman.port('keep'), cluster.app);
    expect([...countByServer(later)]).toEqual([[serverName(other), 4]]);

    await cluster.unlagReplica(lagging.name);
    for (const policy of POLICIES) await waitForMembers(lab, policy, [lagging, other]);
    await Promise.all([...live.values(), later].flat().map((session) => session.close()));
  });

  it('G6: both replicas lag: no reads, or with least_lagging reads from the one with less lag', async () => {
    const { cluster, pointsman } = lab;
    const [worse, better] = await replicasOf(cluster);
    await waitForMembers(lab, 'late', [worse, better]);
    const port = await pointsman.port('late');
    try {
      await cluster.lagReplica(worse.name);
      await writeWal(cluster, MORE_THAN_THE_BOUND_MB);
      await waitForMembers(lab, 'late', [better]);
      await cluster.lagReplica(better.name);
      await writeWal(cluster, MORE_THAN_THE_BOUND_MB);
      await waitForMembers(lab, 'keep', []);
      await waitForMembers(lab, 'late', [better]);
      expect(await pointsman.metric('pointsman_pool_lagging_active{pool="late"}')).toBe(1);
      const shown = await shownMembers(pointsman);
      expect(shown.get(better.name)?.pools['late']?.why).toContain(
        'over the lag limit, used because its lag is the smallest',
      );
      expect(shown.get(worse.name)?.pools['late']?.standing).toBe('keep');
      const session = await HeldSession.open(port, cluster.app);
      expect(session.server).toBe(serverName(better));
      await session.close();
    } finally {
      await cluster.unlagReplica(worse.name);
      await cluster.unlagReplica(better.name);
    }
    // While both replay, they may lag by the same number of limits, and both be the least.
    const isOver = async () => (await pointsman.metric('pointsman_pool_lagging_active{pool="late"}')) === 0;
    await pointsman.waitFor('the end of the lag', isOver);
    await waitForMembers(lab, 'late', [worse, better]);
  });

  it('G5: a replica whose receiver stands still leaves a pool with max_staleness, and comes back', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const [cut, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'fresh', [cut, other]);
    const staleness = (name: string) => pointsman.metric(`pointsman_member_staleness_seconds{member="${name}"}`);
    const [receiver] = await cluster.sql(cut.name, 'select pid from pg_stat_wal_receiver');
    const pid = Number(receiver?.['pid']);
    process.kill(pid, 'SIGSTOP');
    try {
      await cluster.sql(leader.name, `select pg_logical_emit_message(true, 'one', 'commit')`);
      const missedAtMs = monotonicMs();
      await waitForMembers(lab, 'fresh', [other], LEAVES_MS);
      console.log(`without the commit for ${Math.round(monotonicMs() - missedAtMs)} ms on ${on.kind}`);
      await pointsman.waitFor('its age', async () => ((await staleness(cut.name)) ?? 0) >= STALENESS_S);
      await pointsman.waitFor('no age of the other', async () => (await staleness(other.name)) === 0);
      const standing = (await shownMembers(pointsman)).get(cut.name)?.pools['fresh'];
      expect(standing).toMatchObject({ cause: 'stale', why: expect.stringContaining('(limit 3 s)') });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await waitForMembers(lab, 'fresh', [cut, other], LEAVES_MS);
  });
});

describeOnEveryCluster('a replica with a stale view of its cluster', (on) => {
  const lab = on.clusterWithPointsman({ cluster: { failsafeMode: true } });

  it('scenario 20: its API still answers 200, and our own estimate of its lag excludes it', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const [stale, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [stale, other]);
    await cluster.setStoreOutage(true);
    try {
      await pointsman.waitFor('failsafe mode', async () => (await shownMembers(pointsman)).get(leader.name)?.failsafe);
      await cluster.lagReplica(stale.name);
      await writeWal(cluster, MORE_THAN_THE_BOUND_MB);
      await waitForMembers(lab, 'read', [other]);
      expect((await ask(`${stale.api}${CHECK}`))?.status).toBe(200);
      const standing = (await shownMembers(pointsman)).get(stale.name)?.pools['read'];
      expect(standing).toMatchObject({ cause: 'lagging', why: expect.stringContaining('estimated lag') });
    } finally {
      await cluster.unlagReplica(stale.name);
      await cluster.setStoreOutage(false);
    }
    await waitForMembers(lab, 'read', [stale, other]);
  });
});
