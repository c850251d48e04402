// Resolves the contact points that the operator named. Discovery starts from them and the trust rules are made of them.
// Configured members exist whatever a document lists.
import { isIP } from 'node:net';
import { addressOf, isSameAddress } from '../model/member.ts';
import type { Address, ApiEndpoint, Member, MemberRefusal } from '../model/member.ts';
import type { ContactPoint } from './addresses.ts';
import type { ConfiguredMember, ContactSource, DiscoveryConfig } from '../model/cluster-config.ts';
import type { Resolve } from './resolve.ts';
import { findInDirectory, findSeed, locate, type Lookups, type SeedPoint } from './seeds.ts';

export interface ContactPoints {
  readonly points: readonly ContactPoint[];
  readonly seeds: readonly SeedPoint[];
  /** Configured members. `postgres` is undefined unless the configuration has it. */
  readonly members: readonly Member[];
  readonly refused: readonly MemberRefusal[];
  /** One per name or directory. An address needs no lookup. */
  readonly sources: readonly ContactSource[];
}

interface FoundMember {
  readonly points: readonly ContactPoint[];
  readonly member: Member;
  readonly refused: readonly MemberRefusal[];
}

async function findMember(configured: ConfiguredMember, resolve: Resolve): Promise<FoundMember> {
  const { name, api, postgres } = configured;
  const [http, pg] = await Promise.all([
    locate('api', api.address, resolve),
    postgres && locate('postgres', postgres, resolve),
  ]);
  return {
    points: pg === undefined ? [http.point] : [http.point, pg.point],
    member: {
      name,
      api: { url: api.url, address: usedAddress(http.usable) ?? api.address },
      postgres: pg && usedAddress(pg.usable),
      origin: 'configured',
    },
    refused: [http.why, pg?.why].flatMap((why) => (why === undefined ? [] : [{ name, ...why }])),
  };
}

/** All of them as one address; undefined while there is none. */
function usedAddress([first, ...others]: readonly Address[]): Address | undefined {
  return (
    first &&
    addressOf(
      first.host,
      first.port,
      others.map(({ host }) => host),
    )
  );
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
    members: members.map((one) => one.member),
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
