// Scenario 27: a member joins and leaves a running cluster, from a reader's view. The sandbox's members are fixed.
import { expect, it } from 'vitest';
import { clusterWithPointsman } from '../support/clusters/cluster-with-pointsman.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { countByServer, HeldSession } from '../support/applications/held-session.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

describeOnPatroni('a member that joins, on Patroni', () => {
  const lab = clusterWithPointsman(() => startPatroniCluster(), {
    pointsman: { pools: { read: { slow_start: 0 } } },
  });

  it('scenario 27: a new member gets traffic without a restart, and traffic goes on when it leaves', async () => {
    const port = await lab.pointsman.port('read');
    const before = await replicasOf(lab.cluster);
    await waitForMembers(lab, 'read', before);
    const added = await lab.cluster.addMember('pg-4');
    await waitForMembers(lab, 'read', [...before, added]);
    const sessions = await HeldSession.openMany(6, port, lab.cluster.app);
    expect(countByServer(sessions).get(serverName(added))).toBe(2);
    await lab.cluster.removeMember('pg-4');
    await waitForMembers(lab, 'read', before);
    await Promise.all(sessions.map((session) => session.close()));
  });
});
