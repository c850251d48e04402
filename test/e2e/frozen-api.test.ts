// Scenario 8: the primary's management API freezes, its PostgreSQL does not. Sessions live until another primary is
// proven. Then all of them end, and the frozen member gets no new ones.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { GENEROUS_MS } from '../support/applications/failover-figures.ts';
import { HeldSession } from '../support/applications/held-session.ts';

const SESSIONS = 20;

describeOnEveryCluster('a frozen management API', (on) => {
  const lab = on.clusterWithPointsman();

  it('scenario 8: sessions live until another primary is proven, then all end', async () => {
    const port = await lab.pointsman.port('write');
    const old = await lab.cluster.leader();
    const sessions = await HeldSession.openMany(SESSIONS, port, lab.cluster.app);
    const floor = lab.cluster.watchFirstDirectWrite({ excluding: old.name });

    await lab.cluster.freezeManager(old.name);
    await lab.pointsman.waitFor('the member shown as vouched for', async () => {
      const { text } = await lab.pointsman.admin('/status');
      return text.includes('API not responding');
    });
    expect(await lab.pointsman.metric(`pointsman_member_vouched{member="${old.name}"}`)).toBe(1);
    const opened = await HeldSession.open(port, lab.cluster.app);
    expect(opened.server).toBe(serverName(old));

    const first = await floor.done;
    const all = [...sessions, opened];
    await lab.pointsman.waitFor('the end of every session', () =>
      all.every((session) => session.endedAtMs !== undefined),
    );
    const provenAtMs = first.primaryRoleAtMs ?? first.atMs;
    const ends = all.map((session) => (session.endedAtMs ?? Number.NaN) - provenAtMs);
    console.log(
      `frozen API on ${on.kind}: sessions ended ${Math.round(Math.min(...ends))} to ` +
        `${Math.round(Math.max(...ends))} ms after the new primary reported its role`,
    );
    // A silent member is `demoted` only by the proof of another primary.
    const sample = 'pointsman_sessions_closed_total{pool="write",reason="evicted_demoted"}';
    await lab.pointsman.waitFor('the reason', async () => (await lab.pointsman.metric(sample)) === all.length);
    expect(Math.max(...ends)).toBeLessThan(GENEROUS_MS);

    const again = await HeldSession.open(port, lab.cluster.app);
    expect(again.server).toBe(serverName(first.member));
    await again.close();
  }, 120_000);
});
