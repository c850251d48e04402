// The sandbox as a target of the contract suite, in either dialect.
import type { DialectName } from '../../../src/sandbox/sandbox.ts';
import { SandboxCluster } from '../clusters/sandbox-cluster.ts';
import type { ContractTarget } from './target.ts';

export async function startSandboxTarget(dialect: DialectName): Promise<ContractTarget> {
  const cluster = await SandboxCluster.start({ dialect });
  return {
    name: dialect === 'manager' ? 'sandbox' : 'sandbox (patroni dialect)',
    scope: cluster.scope,
    statusPath: `/${dialect}`,
    documentKey: dialect,
    metricsPrefix: dialect,
    members: () => cluster.members(),
    sql: (member, text) => cluster.sql(member.name, text, { timeoutMs: 10_000 }),
    configureTags: (name, tags) => cluster.configureTags(name, tags),
    kill: (name) => cluster.kill(name),
    // Its loop does not come to its end without an answer of its PostgreSQL.
    stallHeartbeat: (name) => cluster.freezePostgres(name),
    pauseReplay: (name) => cluster.lagReplica(name),
    resumeReplay: (name) => cluster.unlagReplica(name),
    heal: (name) => cluster.start(name),
    setStoreOutage: (isDown) => cluster.setStoreOutage(isDown),
    waitUntilHealthy: () => cluster.waitUntilHealthy(),
    describeState: () => cluster.describeState(),
    destroy: () => cluster.destroy(),
  };
}
