// Scenario 29: the pools of synchronous, asynchronous and quorum standbys follow the set that the leader names.
import { expect, it } from 'vitest';
import { describeOnEveryCluster, describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { membersOf, replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

const POOLS = { sync: { check: '/synchronous' }, async: { check: '/asynchronous' }, quorum: { check: '/quorum' } };

function listening(...pools: readonly (keyof typeof POOLS)[]) {
  return {
    pools: Object.fromEntries(pools.map((pool) => [pool, POOLS[pool]])),
    listeners: ['write', ...pools].map((pool) => ({ address: '127.0.0.1:0', pool })),
  };
}

describeOnEveryCluster('synchronous replication', (on) => {
  const lab = on.clusterWithPointsman({ pointsman: listening('sync', 'async') });

  /** Resolves with the synchronous standby when one of the two is synchronous and the other asynchronous. */
  async function waitForSplit([first, second]: readonly [MemberAddress, MemberAddress]) {
    const split = async () => {
      const [sync, ...more] = await membersOf(lab, 'sync');
      return more.length === 0 ? sync : undefined;
    };
    const sync = await lab.pointsman.waitFor('one synchronous standby', split);
    const other = sync.name === first.name ? second : first;
    await waitForMembers(lab, 'async', [other]);
    return { sync, other };
  }

  it('scenario 29: pools on /synchronous and /asynchronous follow the set', async () => {
    const { cluster } = lab;
    const replicas = await replicasOf(cluster);
    await waitForMembers(lab, 'async', replicas);
    await waitForMembers(lab, 'sync', []);

    await cluster.patchConfig({ synchronous_mode: true });
    const { sync, other } = await waitForSplit(replicas);
    await cluster.kill(sync.name);
    await waitForMembers(lab, 'sync', [other]);
    await waitForMembers(lab, 'async', []);
    await cluster.start(sync.name);
    const after = await waitForSplit(replicas);
    expect(after.sync.name).toBe(other.name);

    await cluster.patchConfig({ synchronous_mode: false });
    await waitForMembers(lab, 'async', replicas);
    await waitForMembers(lab, 'sync', []);
  });
});

describeOnSandbox('quorum commit', (on) => {
  const lab = on.clusterWithPointsman({ pointsman: listening('sync', 'quorum') });

  it('scenario 29: a pool on /quorum follows the set', async () => {
    const { cluster } = lab;
    const [first, second] = await replicasOf(cluster);
    await waitForMembers(lab, 'quorum', []);
    await cluster.patchConfig({ synchronous_mode: 'quorum' });
    await waitForMembers(lab, 'quorum', [first, second]);
    await waitForMembers(lab, 'sync', []);
    await cluster.setTags(first.name, { nosync: true });
    await waitForMembers(lab, 'quorum', [second]);
    await cluster.setTags(first.name, {});
    await waitForMembers(lab, 'quorum', [first, second]);
    await cluster.patchConfig({ synchronous_mode: null });
    await waitForMembers(lab, 'quorum', []);
  });
});
