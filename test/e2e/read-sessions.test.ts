// Read sessions leave a replica that does not replay, a promoted member, and the primary when the replicas are back.
// Some clients keep their sessions, others connect for each read. No read fails while the primary is dead.
import { expect, it } from 'vitest';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { monotonicMs } from '../support/waiting/wait.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { READ_ROW, startConnectLoad } from '../support/applications/connect-load.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { SteadyReaders } from '../support/applications/steady-readers.ts';
import { writeWal } from '../support/clusters/write-wal.ts';

const READERS = 6;
const MORE_THAN_THE_BOUND_MB = 32;
/** Reads from a lagging replica end after 10 s, and sessions move within a minute; a busy machine gets more time. */
const LAGGING_READS_MS = 30_000;
const IN_PLACE_MS = 120_000;

describeOnEveryCluster({ name: 'read sessions', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const lab = on.clusterWithPointsman();

  async function withReaders(
    run: (pooled: SteadyReaders, reconnecting: SteadyReaders) => Promise<void>,
  ): Promise<void> {
    const as = { port: await lab.pointsman.port('read'), ...lab.cluster.app };
    const pooled = new SteadyReaders('pooled', READERS, as);
    const reconnecting = new SteadyReaders('reconnecting', 1, as);
    try {
      await run(pooled, reconnecting);
    } finally {
      await Promise.all([pooled.stop(), reconnecting.stop()]);
    }
  }

  /** A replica that refused logins when it was killed gets fewer sessions for a while. */
  async function isSpread(): Promise<boolean> {
    const sessions = await HeldSession.openMany(READERS, await lab.pointsman.port('read'), lab.cluster.app);
    const servers = new Set(sessions.map(({ server }) => server));
    await Promise.all(sessions.map((session) => session.close()));
    return servers.size === 2;
  }

  function told(what: string, figures: Readonly<Record<string, number>>): void {
    const parts = Object.entries(figures).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
    console.log(`${what} on ${on.kind}: ${parts.join(', ')}`);
  }

  it('scenario 18, G5: a replica stops replaying: both kinds of clients soon leave it', async () => {
    const { cluster, pointsman } = lab;
    const [lagging, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [lagging, other]);
    await withReaders(async (pooled, reconnecting) => {
      const isSpread = () => new Set(pooled.servers()).size === 2;
      await pointsman.waitFor('readers on both replicas', isSpread);
      await cluster.lagReplica(lagging.name);
      const faultAtMs = monotonicMs();
      try {
        await writeWal(cluster, MORE_THAN_THE_BOUND_MB);
        const right = [serverName(other)];
        const haveMoved = () => pooled.areOn(right) && reconnecting.areOn(right);
        await pointsman.waitFor('all readers on the other replica', haveMoved, LAGGING_READS_MS);
        const last = [pooled, reconnecting].map((readers) => readers.lastReadOnMs(serverName(lagging)) - faultAtMs);
        const [pooledMs = Infinity, reconnectingMs = Infinity] = last;
        told('last read on the replica that does not replay, after the fault', {
          pooled: pooledMs,
          reconnecting: reconnectingMs,
        });
        expect(Math.max(...last)).toBeLessThan(LAGGING_READS_MS);
      } finally {
        await cluster.unlagReplica(lagging.name);
      }
    });
    await waitForMembers(lab, 'read', [lagging, other]);
  });

  it('scenario 24: readers leave the primary after a fallback', async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const [first, second] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [first, second]);
    await withReaders(async (pooled) => {
      await cluster.kill(first.name);
      await cluster.kill(second.name);
      await pointsman.waitFor('readers on the primary', () => pooled.areOn([serverName(leader)]));
      await cluster.start(first.name);
      await waitForMembers(lab, 'read', [first]);
      const backAtMs = monotonicMs();
      await pointsman.waitFor('readers on the replica', () => pooled.areOn([serverName(first)]), IN_PLACE_MS);
      told('readers left the primary after the return of a replica', { pooled: monotonicMs() - backAtMs });
    });
    await cluster.start(second.name);
  });

  it('readers leave the promoted member after a failover', async () => {
    const { cluster, pointsman } = lab;
    await cluster.waitUntilHealthy();
    const old = await cluster.leader();
    await waitForMembers(lab, 'read', await replicasOf(cluster));
    await pointsman.waitFor('new sessions on both replicas', isSpread);
    await withReaders(async (pooled) => {
      await pointsman.waitFor('readers on both replicas', () => new Set(pooled.servers()).size === 2);
      const floor = cluster.watchFirstDirectWrite({ excluding: old.name });
      await cluster.kill(old.name);
      const { member: promoted, atMs } = await floor.done;
      const others = cluster.members().filter(({ name }) => name !== promoted.name && name !== old.name);
      const right = others.map(serverName);
      await pointsman.waitFor('readers on the replica', () => pooled.areOn(right), IN_PLACE_MS);
      told('last read on the promoted member, after its first write', {
        pooled: pooled.lastReadOnMs(serverName(promoted)) - atMs,
        'longest gap of a reader': pooled.longestGapMs(atMs - 1000),
      });
    });
    await cluster.start(old.name);
  });

  // The replicas no longer stream; they are merely `running`. The first half of scenario 6, from a reader's view.
  it('scenario 21: no read fails between the death of the primary and the promotion', async () => {
    const { cluster, pointsman } = lab;
    await cluster.waitUntilHealthy();
    const port = await pointsman.port('read');
    const old = await cluster.leader();
    await waitForMembers(lab, 'read', await replicasOf(cluster));
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
    told('reads without a primary', { slowest: slowestMs, promotion: promotedAtMs - killedAtMs });
    const early = attempts.filter(({ startedAtMs }) => startedAtMs < (killedAtMs + promotedAtMs) / 2);
    expect(
      early.filter(({ endedAtMs }) => endedAtMs > promotedAtMs),
      'no read waits for the promotion',
    ).toEqual([]);
    // Those on the promoted member leave it at once afterwards.
    const ends = live.flatMap(({ endedAtMs }) => (endedAtMs === undefined ? [] : [endedAtMs]));
    expect(ends.filter((atMs) => atMs < promotedAtMs)).toEqual([]);
    await Promise.all(live.map((session) => session.close()));
  });
});
