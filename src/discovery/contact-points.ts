// Resolves the contact points that the operator named. Discovery starts from them and the trust rules are made of them.
// Configured members exist whatever a document lists.
import { isIP } from 'node:net';
import { addressOf, isSameAddress } from '../model/member.ts';
import type { Address, ApiEndpoint, Member, MemberRefusal, Objection } from '../model/member.ts';
import { neverContacted } from './never-contacted.ts';
import type { ContactPoint, Use } from './addresses.ts';
import { parseApiUrl } from './api-url.ts';
import type { ConfiguredMember, DiscoveryConfig } from '../model/cluster-config.ts';
import type { Resolve } from './resolve.ts';
import { findInDirectory, findSeed, type Lookups, type SeedPoint, type SeedSource } from './seeds.ts';

export interface ContactPoints {
  readonly points: readonly ContactPoint[];
  readonly seeds: readonly SeedPoint[];
  /** Configured members. `postgres` is undefined unless the configuration has it. */
  readonly members: readonly Member[];
  readonly refused: readonly MemberRefusal[];
  /** One per name or directory. An address needs no lookup. */
  readonly sources: readonly SeedSource[];
}

interface PointLocation {
  readonly point: ContactPoint;
  /** The addresses that may be contacted; the name itself while there is none. */
  readonly address: Address;
  readonly why: Objection | undefined;
}

function unresolved(why: string): Objection {
  return { reason: 'unresolved', why };
}

async function locate(use: Use, host: string, port: number, resolve: Resolve): Promise<PointLocation> {
  const resolution = await resolve(host);
  if (resolution.kind === 'unresolved') {
    return { point: { use, host, port, addresses: [] }, address: { host, port }, why: unresolved(resolution.why) };
  }
  const { addresses } = resolution;
  const [usable, ...others] = addresses.filter((address) => neverContacted(address) === undefined);
  if (usable === undefined) {
    const why: Objection = { reason: 'forbidden_address', why: neverContacted(addresses[0]) ?? 'not allowed' };
    return { point: { use, host, port, addresses: [] }, address: { host, port }, why };
  }
  return { point: { use, host, port, addresses }, address: addressOf(usable, port, others), why: undefined };
}

interface FoundMember {
  readonly points: readonly ContactPoint[];
  readonly member?: Member;
  readonly refused: readonly MemberRefusal[];
}

async function findMember(configured: ConfiguredMember, resolve: Resolve): Promise<FoundMember> {
  const { name, postgres } = configured;
  const parsed = parseApiUrl(configured.api.url);
  if (parsed.kind === 'invalid') return { points: [], refused: [{ name, reason: 'unreadable', why: parsed.why }] };
  const { url, host, port } = parsed.api;
  const [api, pg] = await Promise.all([
    locate('api', host, port, resolve),
    postgres === undefined ? undefined : locate('postgres', postgres.host, postgres.port, resolve),
  ]);
  const refused = [api.why, pg?.why].flatMap((why) => (why === undefined ? [] : [{ name, ...why }]));
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

/** Never rejects. Takes as long as the slowest lookup. */
export async function findContactPoints(config: DiscoveryConfig, lookups: Lookups): Promise<ContactPoints> {
  const [seeds, members] = await Promise.all([
    Promise.all([
      ...config.seeds.map((seed) => findSeed(seed, config.allow, lookups)),
      ...(lookups.ask === undefined ? [] : [findInDirectory(lookups.ask, config.allow)]),
    ]),
    Promise.all(config.members.map((member) => findMember(member, lookups.resolve))),
  ]);
  return {
    points: [...seeds, ...members].flatMap((one) => one.points),
    seeds: seeds.flatMap((one) => one.seeds),
    members: members.flatMap((one) => one.member ?? []),
    refused: [
      ...seeds.flatMap(({ refused }) => refused.map((one) => ({ ...one, reason: 'contact_point' as const }))),
      ...members.flatMap((one) => one.refused),
    ],
    sources: seeds.flatMap((one) => one.source ?? []),
  };
}

/** Whether two endpoints are the same API: by address, or by URL where an address is unknown. */
export function isSameApi(a: ApiEndpoint, b: ApiEndpoint): boolean {
  const areResolved = isIP(a.address.host) !== 0 && isIP(b.address.host) !== 0;
  return isSameAddress(a.address, b.address) || (!areResolved && a.url === b.url);
}
