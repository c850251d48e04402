// Scenarios 10, 11 and 12: the store of the leader lock does not answer. Behind them: no management API answers.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES, READ_ROW, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { ask } from '../support/patroni/http.ts';
import { routeChanges, shownMembers } from '../support/processes/pointsman-status.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { monotonicMs } from '../support/waiting/wait.ts';

const PER_SECOND = 20;
/** `probe.write_max_age`: older evidence does not count. */
const EVIDENCE_SECONDS = 5;
/** Longer than any cluster here needs to demote its leader. */
const OUTAGE_MS = 10_000;

describeOnEveryCluster('an outage of the store, and of every management API', (on) => {
  const lab = on.clusterWithPointsman({ pointsman: { hold: { client_timeout: '2s' } } });

  it('scenario 10: the leader demotes itself: writes get 57P03, and reads go on, also from that member', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('write');
    const old = await cluster.leader();
    const live = await HeldSession.open(port, cluster.app);
    const to = { host: '127.0.0.1', port: await pointsman.port('read'), ...cluster.app };
    const reads = startConnectLoad({ ...to, perSecond: PER_SECOND, sql: READ_ROW });
    await cluster.setStoreOutage(true);
    try {
      await pointsman.waitFor('the end of the live session', () => live.endedAtMs !== undefined, 30_000);
      const told = { code: '57P03', message: expect.stringContaining('no primary available') };
      await expect(HeldSession.open(port, cluster.app)).rejects.toMatchObject(told);
      const isServed = () => reads.attempts.some(({ server }) => server === serverName(old));
      await pointsman.waitFor('a read from the demoted member', isServed, 30_000);
      const failed = (await reads.stop()).flatMap(({ error }) => error ?? []);
      expect(failed, pointsman.explain()).toEqual([]);
    } finally {
      await cluster.setStoreOutage(false);
    }
    await cluster.waitUntilHealthy();
    await waitForMembers(lab, 'write', [await cluster.leader()]);
    const back = await HeldSession.open(port, cluster.app);
    expect(back.server).toBe(serverName(await cluster.leader()));
    await back.close();
    const { text } = await pointsman.admin('/incidents/latest');
    expect(JSON.parse(text), text).toMatchObject({ planned: expect.stringMatching(/^(unplanned|unknown)$/) });
  });

  it('G2, G4: stale evidence admits no new session, live ones stay for the grace; thawed, writes go on', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('write');
    const live = await HeldSession.open(port, cluster.app);
    try {
      for (const { name } of cluster.members()) await cluster.freezeManager(name);
      const isHeld = async () => (await pointsman.metric('pointsman_pool_route{pool="write",route="hold"}')) === 1;
      await pointsman.waitFor('no route for writes', isHeld);
      await expect(HeldSession.open(port, cluster.app)).rejects.toMatchObject({ code: '57P03' });
      const { rows } = await live.client.query('select pg_is_in_recovery() as follows');
      expect(rows).toEqual([{ follows: false }]);
    } finally {
      for (const { name } of cluster.members()) await cluster.thawManager(name);
    }
    await cluster.waitUntilHealthy();
    await waitForMembers(lab, 'write', [await cluster.leader()]);
    const again = await HeldSession.open(port, cluster.app);
    expect(again.server).toBe(serverName(await cluster.leader()));
    await Promise.all([live.close(), again.close()]);
  });
});

describeOnEveryCluster('an outage of the store in failsafe mode', (on) => {
  const lab = on.clusterWithPointsman({ cluster: { failsafeMode: true }, sql: CREATE_WRITES });

  it('scenario 11: no interruption, and the mode is shown', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const to = { host: '127.0.0.1', ...cluster.app, perSecond: PER_SECOND };
    await waitForMembers(lab, 'write', [leader]);
    const live = await HeldSession.open(await pointsman.port('write'), cluster.app);
    await cluster.setStoreOutage(true);
    const writes = startConnectLoad({ ...to, port: await pointsman.port('write'), sql: WRITE_ROW });
    const reads = startConnectLoad({ ...to, port: await pointsman.port('read'), sql: READ_ROW });
    try {
      const isShown = async () => (await shownMembers(pointsman)).get(leader.name)?.failsafe;
      await pointsman.waitFor('failsafe mode shown', isShown);
      const enoughAtMs = monotonicMs() + OUTAGE_MS;
      const isLongEnough = () =>
        [writes, reads].every(({ attempts }) => attempts.some(({ startedAtMs }) => startedAtMs > enoughAtMs));
      await pointsman.waitFor('writes and reads', isLongEnough);
    } finally {
      await cluster.setStoreOutage(false);
    }
    await cluster.waitUntilHealthy();
    const attempts = [...(await writes.stop()), ...(await reads.stop())];
    expect(
      attempts.flatMap(({ error }) => error ?? []),
      pointsman.explain(),
    ).toEqual([]);
    expect(new Set((await writes.stop()).map(({ server }) => server))).toEqual(new Set([serverName(leader)]));
    expect(live.endedAtMs).toBeUndefined();
    await live.close();
  });

  it('scenario 12: without /cluster all members stay and are still probed, and a gauge shows it', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const replicas = await replicasOf(cluster);
    await waitForMembers(lab, 'write', [leader]);
    await waitForMembers(lab, 'read', replicas);
    const failures = async () => (await pointsman.metric('pointsman_discoveries_total{outcome="failed"}')) ?? 0;
    const failedBefore = await failures();
    const routesBefore = routeChanges(pointsman);
    await cluster.setStoreOutage(true);
    try {
      // Patroni is silent for ten seconds and closes; the sandbox answers 503 at once.
      const answer = await ask(`${leader.api}/cluster`, { timeoutMs: 2000 });
      expect(answer?.status).toBe(on.kind === 'Patroni' ? undefined : 503);
      await pointsman.waitFor('two failed reads', async () => (await failures()) >= failedBefore + 2, 60_000);
      const ages = await Promise.all(cluster.members().map(({ name }) => answerAge(name)));
      expect(Math.max(...ages)).toBeLessThan(EVIDENCE_SECONDS);
      const discovered =
        (await pointsman.metric('pointsman_discovery_last_success_timestamp_seconds{source="cluster"}')) ?? 0;
      expect(Date.now() / 1000 - discovered).toBeGreaterThan(EVIDENCE_SECONDS);
      expect(await pointsman.metric('pointsman_members')).toBe(3);
      expect(routeChanges(pointsman), pointsman.explain()).toBe(routesBefore);
      const written = await HeldSession.open(await pointsman.port('write'), cluster.app);
      expect(written.server).toBe(serverName(leader));
      await written.close();
    } finally {
      await cluster.setStoreOutage(false);
    }
    await cluster.waitUntilHealthy();
  }, 120_000);

  async function answerAge(member: string): Promise<number> {
    const at = await lab.pointsman.metric(`pointsman_member_last_answer_timestamp_seconds{member="${member}"}`);
    return Date.now() / 1000 - (at ?? 0);
  }
});
