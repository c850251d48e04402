// Scenario 15: a standby cluster follows another cluster and has no primary. After its promotion it takes writes.
import { expect, it } from 'vitest';
import { describeOnSandbox } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { CREATE_WRITES } from '../support/applications/connect-load.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { shownMembers } from '../support/processes/pointsman-status.ts';
import { waitForMembers } from '../support/clusters/pool-members.ts';

/** The cluster that it would follow; its port refuses. */
const REMOTE = { host: '127.0.0.1', port: 1 };

describeOnSandbox('a standby cluster', (on) => {
  const lab = on.clusterWithPointsman({
    sql: CREATE_WRITES,
    pointsman: {
      hold: { client_timeout: '2s' },
      pools: { following: { check: '/standby-leader' } },
      listeners: ['write', 'read', 'following'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    },
  });

  it('scenario 15: 57P03 for writes, a pool on /standby-leader works; promoted, writes open', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const ports = { write: await pointsman.port('write'), following: await pointsman.port('following') };
    await waitForMembers(lab, 'write', [leader]);
    await cluster.patchConfig({ standby_cluster: REMOTE });
    await waitForMembers(lab, 'following', [leader]);
    await waitForMembers(lab, 'write', []);
    // At once: a standby cluster expects no primary, so no client is held.
    const told = {
      code: '57P03',
      message: expect.stringContaining('no_route'),
      detail: expect.stringMatching(/standby.?leader/),
    };
    await expect(HeldSession.open(ports.write, cluster.app)).rejects.toMatchObject(told);
    const follower = await HeldSession.open(ports.following, cluster.app);
    expect(follower.server).toBe(serverName(leader));
    const { rows } = await follower.client.query('select pg_is_in_recovery() as follows');
    expect(rows).toEqual([{ follows: true }]);
    await waitForMembers(
      lab,
      'read',
      cluster.members().filter(({ name }) => name !== leader.name),
    );

    await cluster.patchConfig({ standby_cluster: null });
    await waitForMembers(lab, 'write', [leader]);
    const writer = await HeldSession.open(ports.write, cluster.app);
    await writer.client.query("insert into writes (server) values ('promoted')");
    await writer.close();
    await waitForMembers(lab, 'following', []);
    expect((await shownMembers(pointsman)).get(leader.name)?.role).toBe('primary');
    await follower.close();
  });
});
