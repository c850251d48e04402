// Real Patroni as a target of the contract suite.
import { execFileSync } from 'node:child_process';
import { patroniAvailability } from '../patroni/availability.ts';
import { startPatroniCluster } from '../patroni/start-cluster.ts';
import { runSql } from '../patroni/sql.ts';
import type { ContractTarget } from './target.ts';

export async function startPatroniTarget(): Promise<ContractTarget> {
  const cluster = await startPatroniCluster();
  return {
    name: 'Patroni',
    version: installedVersion(),
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

function installedVersion(): string {
  const found = patroniAvailability();
  if (!found.available) throw new Error(`Patroni is missing: ${found.howToInstall}`);
  const told = execFileSync(found.installation.patroni, ['--version'], { encoding: 'utf8' });
  const version = /\d+(\.\d+)+/.exec(told)?.[0];
  if (version === undefined) throw new Error(`patroni --version says: ${told}`);
  return version;
}
