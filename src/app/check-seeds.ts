// `pointsman check --live`: reads the cluster document from each seed separately, reports what discovery makes of it,
// probes the members once, makes a TLS handshake with each, reads the list of branches, tries the source of
// verifiers, and asks for positions. It binds nothing and changes nothing.
import type { LiveReport, ProbedPool, SeedReport, BranchesReport } from '../cli/live-check.ts';
import type { Config } from '../config/config.ts';
import { checkMemberTls } from './check-member-tls.ts';
import { checkPositions } from './check-positions.ts';
import { checkVerifiers, unreadVerifiers } from './check-verifiers.ts';
import { apiAccess, openSource } from './cluster-access.ts';
import { probeMembers } from './probe-members.ts';
import type { ListEndpoints } from '../discovery/seeds.ts';
import { createDiscovery } from '../discovery/discover.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { Clock } from '../model/instant.ts';
import type { Target } from '../core/routing-table.ts';
import { addressText, type Member } from '../model/member.ts';
import { createProbe } from '../patroni/probe.ts';
import { createReader, type DocumentReader } from '../patroni/read-documents.ts';
import type { BranchesPolicy, BranchListFailure } from '../model/branch.ts';
import { shown } from '../model/printable.ts';

/**
 * One report per seed and configured member, in the order of the configuration, then one for Kubernetes. Settles within
 * discovery's own limits and those of the probes.
 */
export async function checkSeeds(config: Config, clock: Clock): Promise<LiveReport> {
  const { cluster } = config;
  const { kubernetes } = cluster;
  const access = apiAccess(cluster);
  const { readCluster } = createReader(access);
  const source = kubernetes && openSource({ config: kubernetes, clock, random: Math.random, onNews: () => {} });
  const directory = source?.find;
  const branches = config.branches && checkBranches(config.branches);
  const [seeds, all] = await Promise.all([
    readSeeds(cluster, readCluster, directory, clock),
    createDiscovery({ cluster, readCluster, clock, directory }).discover(),
  ]);
  source?.close();
  const probed = await probeMembers({
    policy: config,
    scope: cluster.scope ?? (all.kind === 'found' ? all.scope : undefined),
    members: all.members,
    probe: createProbe(access),
    connectMs: config.backend.connectTimeoutMs,
    clock,
  });
  const accepting = new Set(probed.members.flatMap(({ name, port }) => (port === 'accepts' ? [name] : [])));
  const reached = all.members.flatMap(({ name: member, postgres: address }) =>
    address !== undefined && accepting.has(member) ? [{ member, address }] : [],
  );
  const primary = primaryOf(probed.pools, all.members);
  const timelines = new Map(probed.members.map(({ name, timeline }) => [name, timeline]));
  const asked = reached.map((server) => ({ ...server, timeline: timelines.get(server.member) }));
  const [verifiers, unread, tls, positions] = await Promise.all([
    checkVerifiers(config, primary, clock),
    unreadVerifiers(config, reached, primary?.member, clock),
    checkMemberTls(config, reached, clock),
    checkPositions(config, asked, primary?.member, clock),
  ]);
  return { seeds, ...probed, branches: await branches, verifiers, unreadVerifiers: unread, tls, positions };
}

/** The member of the first pool of one member. */
function primaryOf(
  pools: readonly ProbedPool[],
  members: readonly Member[],
): Pick<Target, 'member' | 'address'> | undefined {
  const name = pools.find(({ exclusive, members: open }) => exclusive && open.length > 0)?.members[0];
  const primary = members.find((member) => member.name === name);
  return primary?.postgres && { member: primary.name, address: primary.postgres };
}

async function readSeeds(
  cluster: ClusterConfig,
  readCluster: DocumentReader['readCluster'],
  directory: ListEndpoints | undefined,
  clock: Clock,
): Promise<readonly SeedReport[]> {
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
    return {
      kind: 'found',
      url,
      scope: found.scope,
      leader: found.leader?.name,
      contactPoints: sources().flatMap(({ contactPoints }) => contactPoints.map(addressText)),
      members: found.members,
      refused: found.refused,
    };
  };
  const checks = allSeeds.map((seed) => check(seed.url, [seed]));
  if (directory !== undefined) checks.push(directory().then(({ name }) => check(name, [], directory)));
  return await Promise.all(checks);
}

/** These may pass without a change of the configuration. */
const PASSING: ReadonlySet<BranchListFailure> = new Set(['unreachable', 'timeout', 'server_error']);

/** Settles within the limits of the source's API. */
async function checkBranches(policy: BranchesPolicy): Promise<BranchesReport> {
  const [{ readBranchList, listFailure }, { indexBranches }] = await Promise.all([
    import('../branches/list-branches.ts'),
    import('../branches/resolve.ts'),
  ]);
  try {
    const index = indexBranches(await readBranchList(policy.source), policy);
    const found = index.branches.map(({ id }) => index.lookup(id, 'write'));
    return {
      kind: 'read',
      branches: found.length,
      routed: found.filter(({ kind }) => kind === 'found').length,
      unreachable: found.flatMap((lookup) =>
        lookup.kind === 'no_backend' ? [{ name: shown(lookup.branch.name), why: lookup.why }] : [],
      ),
    };
  } catch (error) {
    const { failure, why } = listFailure(error);
    return { kind: 'failed', why, mayPass: PASSING.has(failure) };
  }
}
