// Scenario 21 and the first half of scenario 6, as a reader sees them: while the primary is dead and none is elected yet its replicas
// stream no more, are merely `running`, and go on serving reads.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { READ_ROW, startConnectLoad } from '../support/connect-load.ts';
import { HeldSession } from '../support/held-session.ts';
import { replicasOf, waitForMembers } from '../support/pool-members.ts';

/** ttl is 5 s on the sandbox and 20 s on Patroni, of which at most two heartbeats are over. */
const SHORTER_THAN_A_FAILOVER_MS = 2500;

describeOnEveryCluster('reads while there is no primary', (on) => {
  const lab = on.clusterWithPointsman();

  it('scenario 21: not one read fails from the death of the primary to the promotion', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('read');
    const old = await cluster.leader();
    const replicas = await replicasOf(cluster);
    await waitForMembers(lab, 'read', replicas);
    const live = await HeldSession.openMany(4, port, cluster.app);
    const reads = startConnectLoad({ host: '127.0.0.1', port, ...cluster.app, perSecond: 20, sql: READ_ROW });
    const floor = cluster.watchFirstDirectWrite({ excluding: old.name });
    await cluster.kill(old.name);
    await floor.done;
    const attempts = await reads.stop();
    expect(
      attempts.flatMap(({ error }) => error ?? []),
      pointsman.explain(),
    ).toEqual([]);
    const slowestMs = Math.max(...attempts.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs));
    expect(slowestMs, 'nobody waits for the promotion').toBeLessThan(SHORTER_THAN_A_FAILOVER_MS);
    expect(live.filter(({ endedAtMs }) => endedAtMs !== undefined)).toEqual([]);
    await Promise.all(live.map((session) => session.close()));
  });
});
