// `pointsman check --live`: asks each seed by itself for the cluster document and says what it would make of it. Reads only; binds
// nothing.
import type { SeedReport } from '../cli/io.ts';
import { openSource } from './cluster-access.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import { addressText } from '../model/member.ts';
import type { ListEndpoints } from '../discovery/contact-points.ts';
import { createDiscovery } from '../discovery/discover.ts';
import { createReader } from '../patroni/read-documents.ts';
import { tlsFromFiles } from '../patroni/tls-files.ts';
import { systemClock } from './system-clock.ts';

/** One report per seed and configured member, in the order of the configuration, then that of Kubernetes. Settles within discovery's own bounds. */
export async function surveySeeds(cluster: ClusterConfig): Promise<readonly SeedReport[]> {
  const { tls: files } = cluster.api;
  const tls = files === undefined ? undefined : tlsFromFiles(files);
  const { readCluster } = createReader({ tls });
  const allSeeds = [...cluster.seeds, ...cluster.members.map((member) => member.api)];
  const ask = async (url: string, seeds: ClusterConfig['seeds'], directory?: ListEndpoints): Promise<SeedReport> => {
    const alone = { ...cluster, discovery: 'dynamic' as const, seeds, members: [] };
    const { discover, sources } = createDiscovery({
      cluster: alone,
      readCluster,
      clock: systemClock,
      directory,
      // As it is when all of them are asked together.
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
  const source =
    kubernetes && openSource({ config: kubernetes, clock: systemClock, random: Math.random, onNews: () => {} });
  const asked = allSeeds.map((seed) => ask(seed.url, [seed]));
  if (source !== undefined) asked.push(source.find().then(({ name }) => ask(name, [], source.find)));
  const reports = await Promise.all(asked);
  source?.close();
  return reports;
}
