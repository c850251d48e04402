// The places the operator named, resolved: where discovery starts, what the trust rules are made from, and the configured
// members, who are there whatever a document says.
import { isSameAddress } from '../core/member.ts';
import type { Address, ApiEndpoint, Member } from '../core/member.ts';
import { neverContacted } from './addresses.ts';
import type { ContactPoint, Use } from './addresses.ts';
import { parseApiUrl } from './api-url.ts';
import type { ClusterConfig, ConfiguredMember } from './config.ts';
import type { Resolve } from './resolve.ts';

export interface Refusal {
  /** A member's name, or a seed's URL. */
  readonly name: string;
  readonly why: string;
}

export interface ContactPoints {
  readonly points: readonly ContactPoint[];
  readonly seeds: readonly ApiEndpoint[];
  /** Their `postgres` is undefined unless the configuration has it. */
  readonly members: readonly Member[];
  readonly refused: readonly Refusal[];
}

interface Located {
  readonly point: ContactPoint;
  /** Where to connect: the first address that may be contacted; the name itself while there is none. */
  readonly address: Address;
  readonly why: string | undefined;
}

async function locate(use: Use, host: string, port: number, resolve: Resolve): Promise<Located> {
  const resolution = await resolve(host);
  if (resolution.kind === 'unresolved') {
    return { point: { use, host, port, addresses: [] }, address: { host, port }, why: resolution.why };
  }
  const { addresses } = resolution;
  const usable = addresses.find((address) => neverContacted(address) === undefined);
  if (usable === undefined) {
    return { point: { use, host, port, addresses: [] }, address: { host, port }, why: neverContacted(addresses[0]) };
  }
  return { point: { use, host, port, addresses }, address: { host: usable, port }, why: undefined };
}

interface Found {
  readonly points: readonly ContactPoint[];
  readonly seed?: ApiEndpoint;
  readonly member?: Member;
  readonly refused: readonly Refusal[];
}

async function findSeed(seed: ApiEndpoint, resolve: Resolve): Promise<Found> {
  const parsed = parseApiUrl(seed.url);
  // Not the text itself: it may carry what it should not.
  if (parsed.kind === 'invalid') return { points: [], refused: [{ name: 'a seed', why: parsed.why }] };
  const { url, host, port } = parsed.api;
  const { point, address, why } = await locate('api', host, port, resolve);
  if (why !== undefined) return { points: [point], refused: [{ name: url, why }] };
  return { points: [point], seed: { url, address }, refused: [] };
}

async function findMember(configured: ConfiguredMember, resolve: Resolve): Promise<Found> {
  const { name, postgres } = configured;
  const parsed = parseApiUrl(configured.api.url);
  if (parsed.kind === 'invalid') return { points: [], refused: [{ name, why: parsed.why }] };
  const { url, host, port } = parsed.api;
  const [api, pg] = await Promise.all([
    locate('api', host, port, resolve),
    postgres === undefined ? undefined : locate('postgres', postgres.host, postgres.port, resolve),
  ]);
  const refused = [api.why, pg?.why].flatMap((why) => (why === undefined ? [] : [{ name, why }]));
  return {
    points: pg === undefined ? [api.point] : [api.point, pg.point],
    member: {
      name,
      api: { url, address: api.address },
      postgres: pg?.why === undefined ? pg?.address : undefined,
      origin: 'configured',
    },
    refused,
  };
}

/** Never rejects; takes as long as the slowest name. */
export async function findContactPoints(config: ClusterConfig, resolve: Resolve): Promise<ContactPoints> {
  const found = await Promise.all([
    ...config.seeds.map((seed) => findSeed(seed, resolve)),
    ...config.members.map((member) => findMember(member, resolve)),
  ]);
  return {
    points: found.flatMap((one) => one.points),
    seeds: found.flatMap((one) => one.seed ?? []),
    members: found.flatMap((one) => one.member ?? []),
    refused: found.flatMap((one) => one.refused),
  };
}

/** Whether two endpoints are one API: by address, or by URL where an address is not known. */
export function isSameApi(a: ApiEndpoint, b: ApiEndpoint): boolean {
  return isSameAddress(a.address, b.address) || a.url === b.url;
}
