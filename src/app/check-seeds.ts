// `pointsman check --live`: reads the cluster document from each seed separately and reports what discovery makes of
// it. It binds nothing and changes nothing.
import type { SeedReport } from '../cli/io.ts';
import { apiAccess, openSource } from './cluster-access.ts';
import type { ListEndpoints } from '../discovery/seeds.ts';
import { createDiscovery } from '../discovery/discover.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { Clock } from '../model/instant.ts';
import { addressText } from '../model/member.ts';
import { createReader } from '../patroni/read-documents.ts';

/**
 * One report per seed and configured member, in the order of the configuration, then one for Kubernetes. Settles within
 * discovery's own limits.
 */
export async function checkSeeds(cluster: ClusterConfig, clock: Clock): Promise<readonly SeedReport[]> {
  const { readCluster } = createReader(apiAccess(cluster));
  const allSeeds = [...cluster.seeds, ...cluster.members.map((member) => member.api)];
  const check = async (url: string, seeds: ClusterConfig['seeds'], directory?: ListEndpoints): Promise<SeedReport> => {
    const alone = { ...cluster, discovery: 'dynamic' as const, seeds, members: [] };
    // The other seeds are trusted, as they are when all seeds are asked together.
    const { discover, sources } = createDiscovery({
      cluster: alone,
      readCluster,
      clock,
      directory,
      alsoTrusted: allSeeds,
    });
    const found = await discover();
    if (found.kind === 'failed') return { kind: 'failed', url, why: found.why };
    const members = found.members.map(({ name, postgres }) => ({ name, postgres }));
    return {
      kind: 'found',
      url,
      scope: found.scope,
      leader: found.leader?.name,
      contactPoints: sources().flatMap(({ contactPoints }) => contactPoints.map(addressText)),
      members,
      refused: found.refused,
    };
  };
  const { kubernetes } = cluster;
  const source = kubernetes && openSource({ config: kubernetes, clock, random: Math.random, onNews: () => {} });
  const checks = allSeeds.map((seed) => check(seed.url, [seed]));
  if (source !== undefined) checks.push(source.find().then(({ name }) => check(name, [], source.find)));
  const reports = await Promise.all(checks);
  source?.close();
  return reports;
}
