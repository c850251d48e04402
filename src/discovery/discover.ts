// Finds the members: queries contact points for the cluster document, checks its addresses and returns the list.
// Without a document the last list stays. Never decides liveness.
import type { Clock, Instant } from '../model/instant.ts';
import type { ApiEndpoint, MemberName } from '../model/member.ts';
import type { ListFailure, MemberList } from '../model/observation.ts';
import type { ClusterDocument } from '../patroni/cluster-document.ts';
import type { ClusterRead } from '../patroni/read-documents.ts';
import { shown } from '../model/printable.ts';
import { createTrustRules } from './addresses.ts';
import { createContactPointQuery, type ClusterAnswer, type QueryLimits } from './query-contact-points.ts';
import { candidates } from './contact-order.ts';
import type { ContactSource, DiscoveryConfig, Seed } from '../model/cluster-config.ts';
import { findContactPoints, isSameApi, type ContactPoints } from './contact-points.ts';
import type { ListEndpoints, Lookups, SeedRefusal } from './seeds.ts';
import { createNameServer, type NameServer } from './name-server.ts';
import { createOwnPorts } from './own-ports.ts';
import { createResolve } from './resolve.ts';
import { firstOfEachName, leaderOf } from './read-members.ts';
import { KnownMembers } from './known-members.ts';
import { createSourceChanges } from './source-changes.ts';
import { createResolveSrv } from './srv.ts';
import { checkAddresses, type CheckedMember } from './check-addresses.ts';

export interface DiscoveryOptions {
  /** The cluster section of the configuration. */
  readonly cluster: DiscoveryConfig;
  readonly readCluster: (api: ApiEndpoint, deadlineMs: number) => Promise<ClusterRead>;
  readonly clock: Clock;
  readonly names?: NameServer;
  /** Lists contact points in addition to the configured ones. */
  readonly directory?: ListEndpoints | undefined;
  /** Seeds that are trusted like configured ones and are never queried. */
  readonly alsoTrusted?: readonly Seed[];
  /** From 0 to 1: the start position among contact points of equal rank. Default: the first. */
  readonly random?: () => number;
  /** Called when a name or directory has other contact points, begins to fail, or recovers. */
  readonly onSource?: (source: ContactSource, now: Instant) => void;
  readonly limits?: Partial<DiscoveryLimits>;
}

export interface DiscoveryLimits extends QueryLimits {
  /** For one name, milliseconds. */
  readonly lookupMs: number;
  /** How long a discovered member stays after the last document that named it; milliseconds. */
  readonly graceMs: number;
}

const DEFAULT_LIMITS: DiscoveryLimits = {
  readMs: 3000,
  totalMs: 8000,
  attempts: 3,
  lookupMs: 2000,
  graceMs: 30_000,
};

export interface DiscoveredCluster extends MemberList {
  /** As it came: unchecked, and not for display. */
  readonly document: ClusterDocument;
  /** The API that gave the document. */
  readonly from: ApiEndpoint;
}

export type DiscoveryResult = DiscoveredCluster | ListFailure;

export interface Discovery {
  /** `not`: a member to leave out, so that the document comes from another member. Never rejects. */
  readonly discover: (options?: { readonly not?: MemberName | undefined }) => Promise<DiscoveryResult>;
  /** Each name and directory with its last result. */
  readonly sources: () => readonly ContactSource[];
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { cluster: config, readCluster, clock, random = () => 0 } = options;
  const limits: DiscoveryLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { lookup, lookupSrv } = options.names ?? createNameServer();
  const resolve = createResolve(lookup, clock, limits.lookupMs);
  const resolveSrv = createResolveSrv(lookupSrv, clock, limits.lookupMs);
  const lookups: Lookups = { resolve, resolveSrv, ask: options.directory };
  let sources: readonly ContactSource[] = [];
  const reportChanges = createSourceChanges((source) => options.onSource?.(source, clock.now()));
  const learnPorts = createOwnPorts(resolve);
  const known = new KnownMembers(limits.graceMs);
  const query = createContactPointQuery({ readCluster, clock, limits, random, scope: config.scope });

  async function withSeeds(points: ContactPoints, seeds: readonly Seed[]): Promise<ContactPoints> {
    const more = await findContactPoints({ ...config, seeds, members: [] }, { resolve, resolveSrv, ask: undefined });
    return { ...points, points: [...points.points, ...more.points], seeds: [...points.seeds, ...more.seeds] };
  }

  async function take(
    { cluster, from, date, startedAt }: ClusterAnswer,
    points: ContactPoints,
  ): Promise<DiscoveredCluster> {
    const { entries, refused } = firstOfEachName(cluster);
    const trusted = options.alsoTrusted === undefined ? points : await withSeeds(points, options.alsoTrusted);
    const ports = await learnPorts(entries, from.api.address, trusted);
    const rules = createTrustRules(trusted.points, config.allow, ports);
    const checked = await Promise.all(entries.map((entry) => checkAddresses(entry, rules, resolve)));
    const isWanted = (one: CheckedMember): boolean => config.discovery === 'dynamic' || isSeed(one, points);
    const notTaken = known.apply(checked, points, isWanted, startedAt);
    const members = known.members(points);
    return {
      kind: 'found',
      members,
      refused: [...points.refused, ...[...refused, ...notTaken].map((one) => ({ ...one, name: shown(one.name) }))],
      startedAt,
      scope: cluster.scope,
      document: cluster,
      from: from.api,
      leader: leaderOf(entries, checked, points),
      by: members.find((member) => isSameApi(member.api, from.api))?.name ?? from.api.url,
      scheduledSwitchoverAt: cluster.scheduledSwitchover?.atMs,
      date,
    };
  }

  return {
    async discover({ not } = {}) {
      const startedAt = clock.now();
      const points = await findContactPoints(config, lookups);
      sources = points.sources;
      reportChanges(sources);
      const answer = await query(candidates(points, known.members(points), not));
      if (answer.kind === 'answer') return await take(answer, points);
      const problems: readonly SeedRefusal[] = answer.problems.length > 0 ? answer.problems : points.refused;
      const why = problems.map((one) => `${one.name}: ${one.why}`).join('; ') || 'there is no contact point';
      return { kind: 'failed', why, members: known.members(points), refused: points.refused, startedAt };
    },
    sources: () => sources,
  };
}

function isSeed(one: CheckedMember, points: ContactPoints): boolean {
  const { api } = one;
  return api !== undefined && points.seeds.some((seed) => isSameApi(seed.api, api));
}
