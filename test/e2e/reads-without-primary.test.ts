// Scenario 21 and the first half of scenario 6, from a reader's view: the primary is dead and no other is elected yet.
// The replicas no longer stream; they are merely `running` and still serve reads.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { READ_ROW, startConnectLoad } from '../support/applications/connect-load.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { monotonicMs } from '../support/patroni/wait.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

describeOnEveryCluster('reads while there is no primary', (on) => {
  const lab = on.clusterWithPointsman();

  it('scenario 21: no read fails between the death of the primary and the promotion', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('read');
    const old = await cluster.leader();
    const replicas = await replicasOf(cluster);
    await waitForMembers(lab, 'read', replicas);
    const live = await HeldSession.openMany(4, port, cluster.app);
    const reads = startConnectLoad({ host: '127.0.0.1', port, ...cluster.app, perSecond: 20, sql: READ_ROW });
    const floor = cluster.watchFirstDirectWrite({ excluding: old.name });
    const killedAtMs = monotonicMs();
    await cluster.kill(old.name);
    const { atMs: promotedAtMs } = await floor.done;
    const attempts = await reads.stop();
    expect(
      attempts.flatMap(({ error }) => error ?? []),
      pointsman.explain(),
    ).toEqual([]);
    const slowestMs = Math.max(...attempts.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs));
    console.log(
      `reads without a primary on ${on.kind}: slowest ${Math.round(slowestMs)} ms, ` +
        `promotion after ${Math.round(promotedAtMs - killedAtMs)} ms`,
    );
    const early = attempts.filter(({ startedAtMs }) => startedAtMs < (killedAtMs + promotedAtMs) / 2);
    expect(
      early.filter(({ endedAtMs }) => endedAtMs > promotedAtMs),
      'no read waits for the promotion',
    ).toEqual([]);
    expect(live.filter(({ endedAtMs }) => endedAtMs !== undefined)).toEqual([]);
    await Promise.all(live.map((session) => session.close()));
  });
});
