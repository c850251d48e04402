// Resolves a seed to contact points: every address of its name, or every host of its SRV records. DNS gives only
// addresses and ports. Membership and identity come from the members' own APIs.
import { isIP } from 'node:net';
import { addressText, type Address, type ApiEndpoint, type Objection } from '../model/member.ts';
import { learnedRefusal, type ContactPoint, type Use } from './addresses.ts';
import { neverContacted } from './never-contacted.ts';
import { parseApiUrl } from './api-url.ts';
import type { AllowRules, ContactSource, EndpointList, Seed, SrvSeed } from '../model/cluster-config.ts';
import type { Stale } from './last-good.ts';
import type { SrvRecord } from './name-server.ts';
import type { Resolve } from './resolve.ts';
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

/** Never rejects. */
export type ListEndpoints = () => Promise<EndpointList>;

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
  readonly source?: ContactSource;
}

export async function findSeed(seed: Seed, allow: AllowRules, lookups: Lookups): Promise<FoundSeed> {
  return 'srv' in seed ? await findSrv(seed, allow, lookups) : await findNamed(seed, lookups);
}

/** A host that the operator named. */
interface HostLocation {
  readonly point: ContactPoint;
  /** The addresses that may be contacted. */
  readonly usable: readonly Address[];
  /** Why there is none. */
  readonly why: Objection | undefined;
  readonly stale: Stale | undefined;
}

export async function locate(use: Use, { host, port }: Address, resolve: Resolve): Promise<HostLocation> {
  const resolution = await resolve(host);
  if (resolution.kind === 'unresolved') {
    const why: Objection = { reason: 'unresolved', why: resolution.why };
    return { point: { use, host, port, addresses: [] }, usable: [], why, stale: undefined };
  }
  const { addresses, stale } = resolution;
  const usable = addresses.filter((one) => neverContacted(one) === undefined).map((one) => ({ host: one, port }));
  if (usable.length > 0) return { point: { use, host, port, addresses }, usable, why: undefined, stale };
  const why: Objection = { reason: 'forbidden_address', why: neverContacted(addresses[0]) ?? 'not allowed' };
  return { point: { use, host, port, addresses: [] }, usable, why, stale };
}

async function findNamed({ url, address }: ApiEndpoint, { resolve }: Lookups): Promise<FoundSeed> {
  const { point, usable, why, stale } = await locate('api', address, resolve);
  const failing = why?.reason === 'unresolved' ? { why: why.why, since: undefined } : stale;
  return {
    points: [point],
    seeds: usable.map((one) => ({ api: { url, address: one }, rank: 0 })),
    refused: why === undefined ? [] : [{ name: url, why: why.why }],
    ...(isIP(address.host) === 0 && { source: { name: url, contactPoints: usable, failing } }),
  };
}

async function findSrv(seed: SrvSeed, allow: AllowRules, { resolve, resolveSrv }: Lookups): Promise<FoundSeed> {
  const { url, srv } = seed;
  const recalled = await resolveSrv(srv);
  if (recalled.kind === 'unknown') {
    const why = `SRV records of ${srv} could not be looked up: ${recalled.why}`;
    return foundSeed(url, { seeds: [], refused: [{ name: url, why }] }, { why, since: undefined });
  }
  const found = await Promise.all(recalled.value.map((record) => findRecord(seed, record, allow, resolve)));
  const refused = found.flatMap((one) => one.refused);
  return foundSeed(url, { seeds: found.flatMap((one) => one.seeds), refused }, recalled.stale);
}

async function findRecord(
  seed: SrvSeed,
  { target, port, priority: rank }: SrvRecord,
  allow: AllowRules,
  resolve: Resolve,
): Promise<JudgedPoints> {
  const parsed = parseApiUrl(`${seed.scheme}://${target}:${port}`);
  if (parsed.kind === 'invalid') return { seeds: [], refused: [{ name: seed.url, why: `${target}: ${parsed.why}` }] };
  const { url } = parsed.api;
  // A record's target is fully qualified: no search list.
  const resolution = await resolve(`${target}.`);
  if (resolution.kind === 'unresolved') return { seeds: [], refused: [{ name: url, why: resolution.why }] };
  const points = resolution.addresses.map((host) => ({ api: { url, address: { host, port } }, rank }));
  return judge(points, allow, `named by ${seed.url}`);
}

/** Limit on contact points: a directory may be wrong, or belong to another cluster. */
const MAX_LISTED = 100;

export async function findInDirectory(ask: ListEndpoints, allow: AllowRules): Promise<FoundSeed> {
  const { name, endpoints, failing } = await ask();
  const points = endpoints.slice(0, MAX_LISTED).map((api) => ({ api, rank: 0 }));
  const { seeds, refused } = judge(points, allow, `listed by ${name}`);
  const others = endpoints.length - points.length;
  const more = { name: `${others} others`, why: `more than ${MAX_LISTED} are listed by ${name}` };
  const none = { name, why: failing?.why ?? 'it lists no endpoint' };
  const all = [...refused, ...(others > 0 ? [more] : []), ...(endpoints.length === 0 ? [none] : [])];
  return foundSeed(name, { seeds, refused: all }, failing);
}

type JudgedPoints = Pick<FoundSeed, 'seeds' | 'refused'>;

/** `by`: what gave the points. The operator did not name them. */
function judge(points: readonly SeedPoint[], allow: AllowRules, by: string): JudgedPoints {
  const judged = points.map((point) => ({ point, why: learnedRefusal(point.api.address, allow) }));
  return {
    seeds: judged.flatMap(({ point, why }) => (why === undefined ? [point] : [])),
    refused: judged.flatMap(({ point, why }) =>
      why === undefined ? [] : [{ name: addressText(point.api.address), why: `${why}, ${by}` }],
    ),
  };
}

/** By address: a name from a record or a directory is not a name that the operator allowed. */
function foundSeed(name: string, { seeds, refused }: JudgedPoints, failing: ContactSource['failing']): FoundSeed {
  const contactPoints = seeds.map(({ api }) => api.address);
  const points = contactPoints.map((at): ContactPoint => ({ use: 'api', ...at, addresses: [at.host] }));
  return { points, seeds, refused, source: { name, contactPoints, failing } };
}
