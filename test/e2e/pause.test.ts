// Scenario 13: the cluster's maintenance mode, without automatic failover. It is shown, and changes no route.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { routeChanges, shownMembers } from '../support/processes/pointsman-status.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

/** One more than `probe.fall`, which is 2. */
const MORE_THAN_FALL = 3;

describeOnEveryCluster('a pause', (on) => {
  const lab = on.clusterWithPointsman();

  async function waitUntilPaused(expected: boolean): Promise<void> {
    await lab.pointsman.waitFor(`paused ${expected} on every member`, async () =>
      [...(await shownMembers(lab.pointsman)).values()].every(({ paused }) => paused === expected),
    );
    await Promise.all(lab.cluster.members().map(({ name }) => waitForProbes(name)));
  }

  /** One answer alone would neither add nor remove a replica. */
  async function waitForProbes(member: string): Promise<void> {
    const { pointsman } = lab;
    const count = async () => {
      const yes = await pointsman.metric(`pointsman_probes_total{member="${member}",outcome="yes"}`);
      const no = await pointsman.metric(`pointsman_probes_total{member="${member}",outcome="no"}`);
      return (yes ?? 0) + (no ?? 0);
    };
    const enough = (await count()) + MORE_THAN_FALL;
    await pointsman.waitFor(`probes of ${member}`, async () => (await count()) >= enough);
  }

  it('scenario 13: on and off: routes do not change, no session ends, and the mode is shown', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const replicas = await replicasOf(cluster);
    await waitForMembers(lab, 'write', [leader]);
    await waitForMembers(lab, 'read', replicas);
    const ports = { write: await pointsman.port('write'), read: await pointsman.port('read') };
    const live = [
      ...(await HeldSession.openMany(2, ports.write, cluster.app)),
      ...(await HeldSession.openMany(4, ports.read, cluster.app)),
    ];
    const before = routeChanges(pointsman);
    for (const pause of [true, null]) {
      await cluster.patchConfig({ pause });
      await waitUntilPaused(pause === true);
      const [written, read] = [
        await HeldSession.open(ports.write, cluster.app),
        await HeldSession.open(ports.read, cluster.app),
      ];
      expect(written.server).toBe(serverName(leader));
      expect(replicas.map(serverName)).toContain(read.server);
      await Promise.all([written.close(), read.close()]);
    }
    expect(routeChanges(pointsman), pointsman.explain()).toBe(before);
    expect(live.filter(({ endedAtMs }) => endedAtMs !== undefined)).toEqual([]);
    await Promise.all(live.map((session) => session.close()));
  });
});
