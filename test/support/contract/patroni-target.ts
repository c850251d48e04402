// Real Patroni as a target of the contract suite.
import { startPatroniCluster } from '../patroni/start-cluster.ts';
import { runSql } from '../patroni/sql.ts';
import type { ContractTarget } from './target.ts';

export async function startPatroniTarget(): Promise<ContractTarget> {
  const cluster = await startPatroniCluster();
  return {
    name: 'Patroni 3.0.2',
    scope: cluster.scope,
    statusPath: '/patroni',
    documentKey: 'patroni',
    metricsPrefix: 'patroni',
    members: () => cluster.members(),
    sql: (member, text) => runSql(member, text, { timeoutMs: 10_000 }),
    configureTags: (name, tags) => Promise.resolve(cluster.configureTags(name, tags)),
    kill: (name) => cluster.kill(name),
    // Its loop asks PostgreSQL in each run and has no deadline for the answer.
    stallHeartbeat: (name) => cluster.freezePostgres(name),
    // Patroni takes back a pause by pg_wal_replay_pause().
    pauseReplay: (name) => cluster.lagReplica(name),
    resumeReplay: (name) => cluster.unlagReplica(name),
    heal: async (name) => {
      // A leader that is thawed beyond its ttl may take the key back (patroni #2689), so a stalled one dies first.
      await cluster.kill(name);
      await cluster.start(name);
    },
    setStoreOutage: (isDown) => (isDown ? cluster.stopEtcd() : cluster.startEtcd()),
    waitUntilHealthy: () => cluster.waitUntilHealthy(),
    describeState: () => cluster.describeState(),
    destroy: () => cluster.destroy(),
  };
}
