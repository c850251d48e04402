// Resolves a seed to contact points: every address of its name, or every host of its SRV records. DNS gives only
// addresses and ports. Membership and identity come from the members' own APIs.
import { isIP } from 'node:net';
import { addressText, type Address, type ApiEndpoint } from '../model/member.ts';
import { learnedRefusal, type ContactPoint } from './addresses.ts';
import { neverContacted } from './never-contacted.ts';
import { parseApiUrl, type ApiUrl } from './api-url.ts';
import type { AllowRules, Seed, SrvSeed } from '../model/cluster-config.ts';
import type { Stale } from './last-good.ts';
import type { SrvRecord } from './name-server.ts';
import type { Resolution, Resolve } from './resolve.ts';
import type { ResolveSrv } from './srv.ts';

/** Why a contact point is refused. */
export interface SeedRefusal {
  /** A seed's URL, or an address from its name or directory. */
  readonly name: string;
  readonly why: string;
}

/** An API that discovery may start from. */
export interface SeedPoint {
  readonly api: ApiEndpoint;
  /** A lower rank is queried earlier. */
  readonly rank: number;
}

/** A name or a directory with its contact points: the current ones, or those of its last answer. */
export interface SeedSource {
  /** As the operator wrote it. */
  readonly name: string;
  readonly contactPoints: readonly Address[];
  /** Present while lookups fail. `since` is undefined when no lookup ever succeeded. */
  readonly failing: { readonly why: string; readonly since: Stale['since'] | undefined } | undefined;
}

/** Lists API endpoints from a directory such as Kubernetes. Never rejects. */
export type ListEndpoints = () => Promise<{
  readonly name: string;
  readonly endpoints: readonly ApiEndpoint[];
  readonly failing: SeedSource['failing'];
}>;

/** The lookups that discovery depends on. */
export interface Lookups {
  readonly resolve: Resolve;
  readonly resolveSrv: ResolveSrv;
  readonly ask: ListEndpoints | undefined;
}

export interface FoundSeed {
  readonly points: readonly ContactPoint[];
  readonly seeds: readonly SeedPoint[];
  readonly refused: readonly SeedRefusal[];
  readonly source?: SeedSource;
}

export async function findSeed(seed: Seed, allow: AllowRules, lookups: Lookups): Promise<FoundSeed> {
  return 'srv' in seed ? await findSrv(seed, allow, lookups) : await findNamed(seed, lookups);
}

async function findNamed(seed: ApiEndpoint, { resolve }: Lookups): Promise<FoundSeed> {
  const parsed = parseApiUrl(seed.url);
  // The text itself stays out: it may carry a password.
  if (parsed.kind === 'invalid') return { points: [], seeds: [], refused: [{ name: 'a seed', why: parsed.why }] };
  const { url, host, port } = parsed.api;
  const resolution = await resolve(host);
  const found = resolution.kind === 'resolved' ? resolution.addresses : [];
  const [first] = found;
  const usable = found.filter((address) => neverContacted(address) === undefined);
  const why = resolution.kind === 'unresolved' ? resolution.why : first && neverContacted(first);
  return {
    points: [{ use: 'api', host, port, addresses: usable.length === 0 ? [] : found }],
    seeds: usable.map((address) => ({ api: { url, address: { host: address, port } }, rank: 0 })),
    refused: usable.length > 0 || why === undefined ? [] : [{ name: url, why }],
    ...(isIP(host) === 0 ? { source: sourceOf(url, usable, port, resolution) } : {}),
  };
}

function sourceOf(name: string, addresses: readonly string[], port: number, resolution: Resolution): SeedSource {
  const contactPoints = addresses.map((host) => ({ host, port }));
  if (resolution.kind === 'unresolved')
    return { name, contactPoints, failing: { why: resolution.why, since: undefined } };
  return { name, contactPoints, failing: resolution.stale };
}

/** An SRV record's host with the addresses that may be contacted. */
interface RecordLocation {
  readonly record: SrvRecord;
  readonly api: ApiUrl;
  readonly addresses: readonly Address[];
  readonly refused: readonly SeedRefusal[];
}

async function findSrv(seed: SrvSeed, allow: AllowRules, lookups: Lookups): Promise<FoundSeed> {
  const recalled = await lookups.resolveSrv(seed.srv);
  if (recalled.kind === 'unknown') {
    const why = `SRV records of ${seed.srv} could not be looked up: ${recalled.why}`;
    return {
      points: [],
      seeds: [],
      refused: [{ name: seed.url, why }],
      source: { name: seed.url, contactPoints: [], failing: { why, since: undefined } },
    };
  }
  const located = await Promise.all(recalled.value.map((record) => locate(seed, record, allow, lookups)));
  const seeds = located.flatMap(({ record, api, addresses }) =>
    addresses.map((address) => ({ api: { url: api.url, address }, rank: record.priority })),
  );
  return {
    points: pointsOf(seeds),
    seeds,
    refused: located.flatMap(({ refused }) => refused),
    source: {
      name: seed.url,
      contactPoints: seeds.map(({ api }) => api.address),
      failing: recalled.stale,
    },
  };
}

async function locate(
  seed: SrvSeed,
  record: SrvRecord,
  allow: AllowRules,
  { resolve }: Lookups,
): Promise<RecordLocation> {
  const { target, port } = record;
  const parsed = parseApiUrl(`${seed.scheme}://${target}:${port}`);
  const none = { record, api: { url: seed.url, host: target, port }, addresses: [] };
  if (parsed.kind === 'invalid') return { ...none, refused: [{ name: seed.url, why: `${target}: ${parsed.why}` }] };
  const { api } = parsed;
  // A record's target is fully qualified: no search list.
  const resolution = await resolve(`${target}.`);
  if (resolution.kind === 'unresolved') return { ...none, api, refused: [{ name: api.url, why: resolution.why }] };
  const addresses = resolution.addresses.map((host) => ({ host, port }));
  const judged = addresses.map((address) => ({ address, why: learnedRefusal(address, allow) }));
  return {
    record,
    api,
    addresses: judged.flatMap(({ address, why }) => (why === undefined ? [address] : [])),
    refused: judged.flatMap(({ address, why }) =>
      why === undefined ? [] : [{ name: addressText(address), why: `${why}, named by ${seed.url}` }],
    ),
  };
}

/** Limit on contact points: a directory may be wrong, or belong to another cluster. */
const MAX_LISTED = 100;

/** The contact points that a directory lists, judged like those of SRV records. */
export async function findInDirectory(ask: ListEndpoints, allow: AllowRules): Promise<FoundSeed> {
  const { name, endpoints, failing } = await ask();
  const judged = endpoints.slice(0, MAX_LISTED).map((api) => ({ api, why: learnedRefusal(api.address, allow) }));
  const seeds = judged.flatMap(({ api, why }) => (why === undefined ? [{ api, rank: 0 }] : []));
  const refused = judged.flatMap(({ api, why }) =>
    why === undefined ? [] : [{ name: addressText(api.address), why: `${why}, listed by ${name}` }],
  );
  const others = endpoints.length - judged.length;
  if (others > 0) refused.push({ name: `${others} others`, why: `more than ${MAX_LISTED} are listed by ${name}` });
  if (endpoints.length === 0) refused.push({ name, why: failing?.why ?? 'it lists no endpoint' });
  return {
    points: pointsOf(seeds),
    seeds,
    refused,
    source: { name, contactPoints: seeds.map(({ api }) => api.address), failing },
  };
}

/** By address: a name from a record or a directory is not a name that the operator allowed. */
function pointsOf(seeds: readonly SeedPoint[]): readonly ContactPoint[] {
  return seeds.map(({ api }) => ({ use: 'api', ...api.address, addresses: [api.address.host] }));
}
