// Scenario 26, from the view of a read pool's clients: each stays connected, reads now and then, and reconnects after
// the end of its session.
import { expect, it } from 'vitest';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { countByServer, HeldSession } from '../support/applications/held-session.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

const CLIENTS = 10;

describeOnEveryCluster('a replica that returns', (on) => {
  const lab = on.clusterWithPointsman({
    pointsman: { pools: { read: { slow_start: '2s', max_session_age: '5s', check: '/replica' } } },
  });

  it('scenario 26: with a maximum session age the counts even out, and no transaction is cut', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('read');
    const [away, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [away, other]);
    await cluster.kill(away.name);
    await waitForMembers(lab, 'read', [other]);
    const clients = await HeldSession.openMany(CLIENTS, port, cluster.app);
    expect([...countByServer(clients)]).toEqual([[serverName(other), CLIENTS]]);
    const busy = await HeldSession.open(port, cluster.app);
    await busy.client.query('begin');

    await cluster.start(away.name);
    await waitForMembers(lab, 'read', [away, other]);
    const counted = await pointsman.waitFor('even counts', async () => {
      for (const [index, client] of clients.entries()) {
        if (client.endedAtMs !== undefined) clients[index] = await HeldSession.open(port, cluster.app);
      }
      const counts = countByServer(clients);
      return counts.get(serverName(away)) === CLIENTS / 2 ? counts : undefined;
    });
    expect(counted.get(serverName(other))).toBe(CLIENTS / 2);

    const tooOld = await pointsman.waitFor('ends by age', () => {
      const ends = pointsman.lines.filter(({ event, reason }) => event === 'session_closed' && reason === 'too_old');
      return ends.length > 0 ? ends : undefined;
    });
    expect(tooOld.every(({ msg }) => String(msg).includes('max_session_age is 5 s'))).toBe(true);
    const { rows } = await busy.client.query('select 1 as one');
    expect(rows).toEqual([{ one: 1 }]);
    expect(busy.endedAtMs).toBeUndefined();
    await busy.client.query('commit');
    await pointsman.waitFor('its end, too', () => busy.endedAtMs !== undefined);
    expect(busy.endedWith).toContain('(too_old)');
    await Promise.all(clients.map((client) => client.close()));
  });
});
