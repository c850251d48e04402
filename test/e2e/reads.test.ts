// Scenarios 22-25 and 27: tags, filters, lost and joining replicas, as a reader sees them.
import { expect, it } from 'vitest';
import { clusterWithPointsman } from '../support/cluster-with-pointsman.ts';
import { startConnectLoad } from '../support/connect-load.ts';
import { failedAfter } from '../support/failover-figures.ts';
import { countByServer, HeldSession } from '../support/held-session.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { monotonicMs } from '../support/patroni/wait.ts';

const READ_ROW = "select host(inet_server_addr()) || ':' || inet_server_port() as server, 0 as id";

describeOnPatroni('reads', () => {
  const lab = clusterWithPointsman({
    pointsman: {
      pools: {
        read: { drain: '1s' },
        // Scenario 23: nobody has the tag; one pool with a fallback and one without.
        reports: { check: '/replica?tag_purpose=reports', fallback: { pool: 'write', max_sessions: 5 } },
        strict: { check: '/replica?tag_purpose=reports' },
      },
      listeners: ['write', 'read', 'reports', 'strict'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    },
  });

  async function waitForReaders(hosts: readonly string[]): Promise<void> {
    const members = lab.cluster.members();
    await lab.pointsman.waitFor(`${hosts.join(', ')} in the read pool`, async () => {
      const values = await Promise.all(
        members.map(async (member) => {
          const sample = `pointsman_member_standing{pool="read",member="${member.name}",standing="open"}`;
          return (await lab.pointsman.metric(sample)) === 1 ? member.host : undefined;
        }),
      );
      return (
        values
          .filter((host) => host !== undefined)
          .toSorted()
          .join() === hosts.toSorted().join()
      );
    });
  }

  async function replicas(): Promise<{ name: string; host: string }[]> {
    const leader = await lab.cluster.leader();
    return lab.cluster.members().filter((member) => member.name !== leader.name);
  }

  it('scenario 22: noloadbalance set at run time: no new reads, live ones drain; removed: it returns', async () => {
    const port = await lab.pointsman.port('read');
    const [tagged, other] = await replicas();
    if (tagged === undefined || other === undefined) throw new Error('two replicas are needed');
    await waitForReaders([tagged.host, other.host]);
    const sessions = await HeldSession.openMany(10, port, lab.cluster.app);
    expect(countByServer(sessions).get(tagged.host)).toBe(5);

    await lab.cluster.setTags(tagged.name, { noloadbalance: true });
    await waitForReaders([other.host]);
    const later = await HeldSession.openMany(4, port, lab.cluster.app);
    expect([...countByServer(later)]).toEqual([[other.host, 4]]);
    const onTagged = sessions.filter((session) => session.server === tagged.host);
    await lab.pointsman.waitFor('the drain', () => onTagged.every((session) => session.endedAtMs !== undefined));

    await lab.cluster.setTags(tagged.name, {});
    await waitForReaders([tagged.host, other.host]);
    const back = await HeldSession.open(port, lab.cluster.app);
    expect(back.server).toBe(tagged.host);
    await Promise.all([...sessions, ...later, back].map((session) => session.close()));
  });

  it('scenario 23: a filter nobody matches: fallback where there is one, else 57P03 that names the filter', async () => {
    const leader = await lab.cluster.leader();
    const session = await HeldSession.open(await lab.pointsman.port('reports'), lab.cluster.app);
    expect(session.server).toBe(leader.host);
    await session.close();
    const refused = HeldSession.open(await lab.pointsman.port('strict'), lab.cluster.app);
    await expect(refused).rejects.toMatchObject({ code: '57P03', detail: expect.stringContaining('purpose') });
  });

  it('scenario 25: a replica killed with 50 live reads: they end, new connects spread over the rest, none fails', async () => {
    const port = await lab.pointsman.port('read');
    const [victim, other] = await replicas();
    if (victim === undefined || other === undefined) throw new Error('two replicas are needed');
    await waitForReaders([victim.host, other.host]);
    const sessions = await HeldSession.openMany(100, port, lab.cluster.app);
    const onVictim = sessions.filter((session) => session.server === victim.host);
    expect(onVictim).toHaveLength(50);
    const load = startConnectLoad({ host: '127.0.0.1', port, ...lab.cluster.app, perSecond: 20, sql: READ_ROW });
    const killedAtMs = monotonicMs();
    await lab.cluster.kill(victim.name);
    await lab.pointsman.waitFor(
      'the end of its sessions',
      () => onVictim.every((s) => s.endedAtMs !== undefined),
      3000,
    );
    const after = load.attempts.length + 40;
    await lab.pointsman.waitFor('forty connects more', () => load.attempts.length >= after);
    const attempts = await load.stop();
    expect(failedAfter(attempts, killedAtMs), lab.pointsman.explain()).toEqual([]);
    expect(sessions.filter((s) => s.server === other.host && s.endedAtMs !== undefined)).toEqual([]);
    await Promise.all(sessions.map((session) => session.close()));
    await lab.cluster.start(victim.name);
  });

  it('scenario 24: all replicas gone: reads go to the primary; a replica returns: new reads go there', async () => {
    const port = await lab.pointsman.port('read');
    const leader = await lab.cluster.leader();
    const [first, second] = await replicas();
    if (first === undefined || second === undefined) throw new Error('two replicas are needed');
    await waitForReaders([first.host, second.host]);
    await lab.cluster.stop(first.name);
    await lab.cluster.stop(second.name);
    await waitForReaders([leader.host]);
    const onPrimary = await HeldSession.open(port, lab.cluster.app);
    expect(onPrimary.server).toBe(leader.host);
    expect(await lab.pointsman.metric('pointsman_pool_fallback_active{pool="read"}')).toBe(1);

    await lab.cluster.start(first.name);
    await waitForReaders([first.host]);
    const onReplica = await HeldSession.open(port, lab.cluster.app);
    expect(onReplica.server).toBe(first.host);
    await Promise.all([onPrimary.close(), onReplica.close()]);
    await lab.cluster.start(second.name);
  });

  it('scenario 27: a member joins through discovery: traffic without a restart; it leaves: traffic goes on', async () => {
    const port = await lab.pointsman.port('read');
    const before = await replicas();
    await waitForReaders(before.map((member) => member.host));
    const added = await lab.cluster.addMember('pg-4');
    await waitForReaders([...before.map((member) => member.host), added.host]);
    const sessions = await HeldSession.openMany(6, port, lab.cluster.app);
    expect(countByServer(sessions).get(added.host)).toBe(2);
    await lab.cluster.removeMember('pg-4');
    await waitForReaders(before.map((member) => member.host));
    await Promise.all(sessions.map((session) => session.close()));
  });
});
