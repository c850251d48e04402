// Scenarios 22 to 25: tags, filters and lost replicas, from a reader's view.
import { expect, it } from 'vitest';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { READ_ROW, startConnectLoad } from '../support/applications/connect-load.ts';
import { failedAfter } from '../support/applications/failover-figures.ts';
import { countByServer, HeldSession } from '../support/applications/held-session.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { monotonicMs } from '../support/waiting/wait.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';

describeOnEveryCluster({ name: 'reads', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const lab = on.clusterWithPointsman({
    pointsman: {
      pools: {
        read: { drain_timeout: '1s', slow_start: 0 },
        // Scenario 23: no member has the tag; one pool with a fallback and one without.
        reports: { check: '/replica?tag_purpose=reports', fallback: { pool: 'write', max_sessions: 5 } },
        strict: { check: '/replica?tag_purpose=reports' },
        // Scenario 24: a pool with a small fallback, and a pool without one.
        few: { check: '/replica', fallback: { pool: 'write', max_sessions: 2 }, on_leave: { fallback_over: 'keep' } },
        alone: { check: '/replica' },
      },
      listeners: ['write', 'read', 'reports', 'strict', 'few', 'alone'].map((pool) => ({
        address: '127.0.0.1:0',
        pool,
      })),
    },
  });

  const waitForReaders = (...expected: readonly MemberAddress[]) => waitForMembers(lab, 'read', expected);

  it('scenario 22: noloadbalance at run time: no new reads, live ones drain; without it reads return', async () => {
    const port = await lab.pointsman.port('read');
    const [tagged, other] = await replicasOf(lab.cluster);
    await waitForReaders(tagged, other);
    const sessions = await HeldSession.openMany(10, port, lab.cluster.app);
    expect(countByServer(sessions).get(serverName(tagged))).toBe(5);

    await lab.cluster.setTags(tagged.name, { noloadbalance: true });
    await waitForReaders(other);
    const later = await HeldSession.openMany(4, port, lab.cluster.app);
    expect([...countByServer(later)]).toEqual([[serverName(other), 4]]);
    const onTagged = sessions.filter((session) => session.server === serverName(tagged));
    await lab.pointsman.waitFor('the drain', () => onTagged.every((session) => session.endedAtMs !== undefined));

    await lab.cluster.setTags(tagged.name, {});
    await waitForReaders(tagged, other);
    const back = await HeldSession.open(port, lab.cluster.app);
    expect(back.server).toBe(serverName(tagged));
    await Promise.all([...sessions, ...later, back].map((session) => session.close()));
  });

  it('scenario 23: a filter that no member matches: the fallback, or 57P03 that names the filter', async () => {
    const leader = await lab.cluster.leader();
    const session = await HeldSession.open(await lab.pointsman.port('reports'), lab.cluster.app);
    expect(session.server).toBe(serverName(leader));
    await session.close();
    const refused = HeldSession.open(await lab.pointsman.port('strict'), lab.cluster.app);
    await expect(refused).rejects.toMatchObject({ code: '57P03', detail: expect.stringContaining('purpose') });
  });

  it('scenario 25: a replica with 50 live reads is killed: they end, and new connects go to the rest', async () => {
    const port = await lab.pointsman.port('read');
    const [victim, other] = await replicasOf(lab.cluster);
    await waitForReaders(victim, other);
    const sessions = await HeldSession.openMany(100, port, lab.cluster.app);
    const onVictim = sessions.filter((session) => session.server === serverName(victim));
    expect(onVictim).toHaveLength(50);
    const load = startConnectLoad({ host: '127.0.0.1', port, ...lab.cluster.app, perSecond: 20, sql: READ_ROW });
    await lab.cluster.kill(victim.name);
    // While the server processes die one after the other, the port may still accept a client and never answer it.
    const diedAtMs = monotonicMs();
    await lab.pointsman.waitFor(
      'the end of its sessions',
      () => onVictim.every((s) => s.endedAtMs !== undefined),
      3000,
    );
    const after = load.attempts.length + 40;
    await lab.pointsman.waitFor('forty connects more', () => load.attempts.length >= after);
    const attempts = await load.stop();
    expect(failedAfter(attempts, diedAtMs), lab.pointsman.explain()).toEqual([]);
    expect(sessions.filter((s) => s.server === serverName(other) && s.endedAtMs !== undefined)).toEqual([]);
    await Promise.all(sessions.map((session) => session.close()));
    await lab.cluster.start(victim.name);
  });

  it('scenario 24, G6: without replicas the primary serves capped reads; a returning one gets them back', async () => {
    const port = await lab.pointsman.port('read');
    const leader = await lab.cluster.leader();
    const [first, second] = await replicasOf(lab.cluster);
    await waitForReaders(first, second);
    await lab.cluster.kill(first.name);
    await lab.cluster.kill(second.name);
    await waitForReaders(leader);
    const onPrimary = await HeldSession.open(port, lab.cluster.app);
    expect(onPrimary.server).toBe(serverName(leader));
    expect(await lab.pointsman.metric('pointsman_pool_fallback_active{pool="read"}')).toBe(1);
    expect((await lab.pointsman.admin('/status')).text).toMatch(/"fallback":\s*{[^}]*"for_seconds"/);
    await waitForMembers(lab, 'few', [leader]);
    const few = await HeldSession.openMany(2, await lab.pointsman.port('few'), lab.cluster.app);
    const oneMore = HeldSession.open(await lab.pointsman.port('few'), lab.cluster.app);
    await expect(oneMore).rejects.toMatchObject({ code: '53300', detail: expect.stringContaining('limit is 2') });
    const noFallback = HeldSession.open(await lab.pointsman.port('alone'), lab.cluster.app);
    await expect(noFallback).rejects.toMatchObject({ code: '57P03', message: expect.stringContaining('no_route') });

    await lab.cluster.start(first.name);
    await waitForReaders(first);
    const onReplica = await HeldSession.open(port, lab.cluster.app);
    expect(onReplica.server).toBe(serverName(first));
    await lab.pointsman.waitFor('the end of the fallback', () => onPrimary.endedAtMs !== undefined);
    await Promise.all([onPrimary, onReplica, ...few].map((session) => session.close()));
    await lab.cluster.start(second.name);
  });
});
