// Scenario 17: the two dialects of the management API, the contract's own and Patroni's. Pointsman has no setting for
// the dialect and behaves in the same way with both.
import { expect, it } from 'vitest';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { ask } from '../support/patroni/http.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { shownMembers } from '../support/processes/pointsman-status.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

describeOnSandbox('dialects of the management API', (on) => {
  const labs = {
    manager: on.clusterWithPointsman({ cluster: { dialect: 'manager' } }),
    patroni: on.clusterWithPointsman({ cluster: { dialect: 'patroni' } }),
  };

  it.each(['manager', 'patroni'] as const)(
    'scenario 17: routes follow the cluster in the dialect %s',
    async (dialect) => {
      const lab = labs[dialect];
      const { cluster, pointsman } = lab;
      const other = dialect === 'manager' ? 'patroni' : 'manager';
      const leader = await cluster.leader();
      const [tagged, untagged] = await replicasOf(cluster);
      expect((await ask(`${leader.api}/${dialect}`))?.text).toContain(`"${dialect}"`);
      expect((await ask(`${leader.api}/${dialect}`))?.text).not.toContain(`"${other}"`);

      await waitForMembers(lab, 'write', [leader]);
      await waitForMembers(lab, 'read', [tagged, untagged]);
      await cluster.setTags(tagged.name, { noloadbalance: true });
      await waitForMembers(lab, 'read', [untagged]);
      await cluster.setTags(tagged.name, {});
      await waitForMembers(lab, 'read', [tagged, untagged]);

      const next = await cluster.switchover({ to: untagged.name });
      await waitForMembers(lab, 'write', [next]);
      await waitForMembers(lab, 'read', [leader, tagged]);
      const session = await HeldSession.open(await pointsman.port('write'), cluster.app);
      expect(session.server).toBe(serverName(untagged));
      await session.close();
      const shown = (await shownMembers(pointsman)).get(next.name);
      expect(shown).toMatchObject({ role: 'primary', state: 'running', timeline: 2 });
    },
  );
});
