// Scenarios 1 and 5: common tools write to the primary and read from a replica, each through its listener. Scenario 13:
// also in the cluster's maintenance mode, without automatic failover, which is shown and changes no route.
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { runTool, whyNoTool } from '../support/applications/client-tools.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { routeChanges, shownMembers } from '../support/processes/pointsman-status.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { itUnless } from '../support/runner/unless-missing.ts';

/** One more than `probe.fall`, which is 2. */
const MORE_THAN_FALL = 3;

describeOnEveryCluster('the main job', (on) => {
  const lab = on.clusterWithPointsman();

  async function at(pool: string) {
    return { port: await lab.pointsman.port(pool), as: lab.cluster.app };
  }

  async function psql(pool: string, sql: string): Promise<string> {
    return runTool('psql', await at(pool), ['-X', '-v', 'ON_ERROR_STOP=1', '-At', '-c', sql]);
  }

  async function ask(pool: string, sql: string): Promise<unknown> {
    const client = new Client({ host: '127.0.0.1', port: await lab.pointsman.port(pool), ...lab.cluster.app });
    // The failed query reports the error; without a listener this event would end the process.
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      return Object.values(rows[0] ?? {})[0];
    } finally {
      await client.end();
    }
  }

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

  it('scenario 1: the first write client gets the primary, although it connects before the first round', async () => {
    const leader = await lab.cluster.leader();
    const first = await HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
    expect(first.server).toBe(serverName(leader));
    await first.close();
    await lab.pointsman.waitUntilReady();
  });

  it('node-postgres writes through the write listener and reads the row from a replica', async () => {
    expect(await ask('write', 'select pg_is_in_recovery()')).toBe(false);
    await ask('write', "create table note as select 'written' as word");
    expect(await ask('read', 'select pg_is_in_recovery()')).toBe(true);
    const word = () => ask('read', 'select word from note').catch(() => undefined);
    await lab.pointsman.waitFor('the row on every replica', async () => {
      return (await word()) === 'written' && (await word()) === 'written';
    });
  });

  itUnless(
    whyNoTool('psql'),
    'psql writes through the write listener and reads through the read listener',
    async () => {
      await psql('write', "create table greeting as select 'hello' as word");
      expect(await psql('write', 'select pg_is_in_recovery()')).toBe('f');
      expect(await psql('read', 'select pg_is_in_recovery()')).toBe('t');
      const word = () => psql('read', 'select word from greeting').catch(() => '');
      await lab.pointsman.waitFor('the row on every replica', async () => {
        return (await word()) === 'hello' && (await word()) === 'hello';
      });
    },
  );

  for (const protocol of ['simple', 'extended', 'prepared']) {
    itUnless(whyNoTool('pgbench'), `pgbench, ${protocol} protocol, through both listeners`, async () => {
      if (protocol === 'simple') await runTool('pgbench', await at('write'), ['-i', '-q', '-s', '1']);
      const options = ['-M', protocol, '-c', '8', '-t', '100', '-n'];
      expect(await runTool('pgbench', await at('write'), options)).toContain('number of failed transactions: 0');
      await lab.pointsman.waitFor('pgbench tables on the replicas', async () => {
        const sql = 'select count(*) = 2 from pg_stat_replication where replay_lsn >= pg_current_wal_flush_lsn()';
        const rows = await lab.cluster.sql((await lab.cluster.leader()).name, sql);
        return Object.values(rows[0] ?? {})[0] === true;
      });
      const reads = await runTool('pgbench', await at('read'), [...options, '-S']);
      expect(reads).toContain('number of failed transactions: 0');
    });
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

  it('scenario 5: PostgreSQL restarts in place: new clients are held and succeed', async () => {
    const port = await lab.pointsman.port('write');
    const leader = await lab.cluster.leader();
    const live = await HeldSession.open(port, lab.cluster.app);
    const headers = { 'content-type': 'application/json' };
    const restart = fetch(`${leader.api}/restart`, { method: 'POST', headers, body: '{}' });
    await lab.pointsman.waitFor('the end of the live session', () => live.endedAtMs !== undefined);
    const held = await HeldSession.open(port, lab.cluster.app);
    expect(held.server).toBe(serverName(leader));
    await held.close();
    expect((await restart).status).toBe(200);
  });
});
