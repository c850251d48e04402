// Who the members are. Asks one contact point after another for the cluster document until one gives it, vets what it says,
// and hands out the list. A document that cannot be had changes nothing: the last list stands. Liveness is not decided here.
import type { Clock, Instant } from '../model/instant.ts';
import type { ApiEndpoint, Member, MemberName, MemberRefusal } from '../model/member.ts';
import type { ClusterRead } from '../patroni/read-documents.ts';
import { shown } from '../model/printable.ts';
import { createTrustRules } from './addresses.ts';
import { createAskAround } from './query-contact-points.ts';
import type { Answer, AskLimits } from './query-contact-points.ts';
import { candidates } from './candidates.ts';
import type { ClusterConfig, Seed } from './config.ts';
import { findContactPoints, isSameApi } from './contact-points.ts';
import type { AskDirectory, ContactPoints, Directories, Refusal, Source } from './contact-points.ts';
import { createNameServer } from './name-server.ts';
import type { NameServer } from './name-server.ts';
import { createOwnPorts } from './own-ports.ts';
import { createResolve } from './resolve.ts';
import { firstOfEachName, leaderOf } from './read-members.ts';
import type { NamedLeader } from './read-members.ts';
import { Roster } from './known-members.ts';
import type { Absent } from './known-members.ts';
import { createSourceNews } from './source-news.ts';
import { createResolveSrv } from './srv.ts';
import { vet } from './check-addresses.ts';
import type { Vetted } from './check-addresses.ts';

export interface DiscoveryOptions {
  /** config/'s own piece about the cluster. */
  readonly cluster: ClusterConfig;
  readonly readCluster: (api: ApiEndpoint, deadlineMs: number) => Promise<ClusterRead>;
  readonly clock: Clock;
  readonly names?: NameServer;
  /** Lists contact points beside those of the configuration. */
  readonly directory?: AskDirectory | undefined;
  /** Seeds that are not asked, and are trusted like those of the configuration. */
  readonly alsoTrusted?: readonly Seed[];
  /** From 0 to 1: with whom of equal contact points it begins. Default: with the first. */
  readonly random?: () => number;
  /** Hears what each name or directory gives, whenever that changes. */
  readonly onSource?: (source: Source, now: Instant) => void;
  readonly limits?: Partial<DiscoveryLimits>;
}

export interface DiscoveryLimits extends AskLimits {
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

interface Listed {
  /** Configured ones first; names are unique. Valid for `failed`, too: the list as it was, freshly resolved. */
  readonly members: readonly Member[];
  /** What was not taken, and why. */
  readonly refused: readonly MemberRefusal[];
  /** Start of the read that gave the document, or of the call when none did. */
  readonly startedAt: Instant;
}

export interface Discovered extends Listed {
  readonly kind: 'found';
  readonly scope: string | undefined;
  readonly leader: NamedLeader | undefined;
  /** Who gave the document: a member's name, or a seed's URL. */
  readonly by: string;
  /** Wall clock, milliseconds since the epoch. */
  readonly scheduledSwitchoverAt: number | undefined;
  readonly paused: boolean;
  /** Members that are kept although this document does not name them. */
  readonly absent: readonly Absent[];
}

export type DiscoveryResult = Discovered | (Listed & { readonly kind: 'failed'; readonly why: string });

export interface Discovery {
  /** `not`: everybody but this member is asked, so that what is found is somebody else's word. Never rejects. */
  readonly discover: (options?: { readonly not?: MemberName | undefined }) => Promise<DiscoveryResult>;
  /** What each name and directory gave when they were last asked. */
  readonly sources: () => readonly Source[];
}

export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { cluster: config, readCluster, clock, random = () => 0 } = options;
  const limits: DiscoveryLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { lookup, lookupSrv } = options.names ?? createNameServer();
  const resolve = createResolve(lookup, clock, limits.lookupMs);
  const resolveSrv = createResolveSrv(lookupSrv, clock, limits.lookupMs);
  const directories: Directories = { resolve, resolveSrv, ask: options.directory };
  const news = createSourceNews((source) => options.onSource?.(source, clock.now()));
  const ownPorts = createOwnPorts(resolve);
  const roster = new Roster(limits.graceMs);
  const askAround = createAskAround({ readCluster, clock, limits, random, scope: config.scope });

  async function withSeeds(points: ContactPoints, seeds: readonly Seed[]): Promise<ContactPoints> {
    const more = await findContactPoints({ ...config, seeds, members: [] }, { resolve, resolveSrv, ask: undefined });
    return { ...points, points: [...points.points, ...more.points], seeds: [...points.seeds, ...more.seeds] };
  }

  async function take({ cluster, from, startedAt }: Answer, points: ContactPoints): Promise<Discovered> {
    const { entries, refused } = firstOfEachName(cluster);
    const trusted = options.alsoTrusted === undefined ? points : await withSeeds(points, options.alsoTrusted);
    const ports = await ownPorts.learn(entries, from.api.address, trusted);
    const rules = createTrustRules(trusted.points, config.allow, ports);
    const vetted = await Promise.all(entries.map((entry) => vet(entry, rules, resolve)));
    const isWanted = (one: Vetted): boolean => config.discovery === 'dynamic' || isSeed(one, points);
    const notTaken = roster.apply(vetted, points, isWanted, startedAt);
    const members = roster.members(points);
    return {
      kind: 'found',
      members,
      refused: [...points.refused, ...[...refused, ...notTaken].map((one) => ({ ...one, name: shown(one.name) }))],
      startedAt,
      scope: cluster.scope,
      leader: leaderOf(entries, vetted, points),
      by: members.find((member) => isSameApi(member.api, from.api))?.name ?? from.api.url,
      scheduledSwitchoverAt: cluster.scheduledSwitchover?.atMs,
      paused: cluster.pause,
      absent: roster.absent(startedAt),
    };
  }

  return {
    async discover({ not } = {}) {
      const startedAt = clock.now();
      const points = await findContactPoints(config, directories);
      news.tell(points.sources);
      const answer = await askAround(candidates(points, roster.members(points), not));
      if (answer.kind === 'answer') return await take(answer, points);
      const problems = (answer.problems.length > 0 ? answer.problems : points.refused).map(nameAndWhy);
      const why = problems.length === 0 ? 'there is no contact point to ask' : problems.join('; ');
      return { kind: 'failed', why, members: roster.members(points), refused: points.refused, startedAt };
    },
    sources: () => news.latest(),
  };
}

function nameAndWhy({ name, why }: Refusal): string {
  return `${name}: ${why}`;
}

function isSeed(one: Vetted, points: ContactPoints): boolean {
  const { api } = one;
  return api !== undefined && points.seeds.some((seed) => isSameApi(seed.api, api));
}
