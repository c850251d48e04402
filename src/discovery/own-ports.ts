// The PostgreSQL ports that seeds report for themselves. A seed is trusted, so its own port is trusted, and the same
// port on the members that it lists. Only documents of seeds and configured members count, never those of discovered
// members.
import { addressText, isSameAddress, type Address } from '../model/member.ts';
import type { DocumentMember } from '../patroni/cluster-document.ts';
import { FIRST_FREE_PORT } from './addresses.ts';
import { parseApiUrl } from './api-url.ts';
import type { ContactPoints } from './contact-points.ts';
import type { Resolve } from './resolve.ts';

/** Reads the document that `from` returned. Returns every port known so far. Never rejects. */
type LearnPorts = (
  entries: readonly DocumentMember[],
  from: Address,
  points: ContactPoints,
) => Promise<readonly number[]>;

/** Remembers a seed's port while it is a seed, also while the seed is down. */
export function createOwnPorts(resolve: Resolve): LearnPorts {
  const ports = new Map<string, number>();

  /** Addresses of `host`; empty when it cannot be resolved. */
  async function addressesOf(host: string): Promise<readonly string[]> {
    const resolution = await resolve(host);
    return resolution.kind === 'resolved' ? resolution.addresses : [];
  }

  /** The seed that the entry describes, and its PostgreSQL port. Undefined for another member or another host. */
  async function ownPort(
    entry: DocumentMember,
    seeds: readonly Address[],
  ): Promise<readonly [string, number] | undefined> {
    const { apiUrl, host, port } = entry;
    if (apiUrl === undefined || host === undefined || port === undefined || port < FIRST_FREE_PORT) return undefined;
    const parsed = parseApiUrl(apiUrl);
    if (parsed.kind === 'invalid') return undefined;
    const { address } = parsed.api;
    const near = seeds.filter((seed) => seed.port === address.port);
    if (near.length === 0) return undefined;
    const [apis, databases] = await Promise.all([addressesOf(address.host), addressesOf(host)]);
    const seed = near.find((one) => apis.includes(one.host));
    return seed !== undefined && databases.includes(seed.host) ? [addressText(seed), port] : undefined;
  }

  return async (entries, from, points) => {
    const seeds = [...points.seeds, ...points.members].map(({ api }) => api.address);
    const known = new Set(seeds.map(addressText));
    for (const seed of ports.keys()) if (!known.has(seed)) ports.delete(seed);
    const isFromSeed = seeds.some((seed) => isSameAddress(seed, from));
    if (isFromSeed) {
      const learned = await Promise.all(entries.map((entry) => ownPort(entry, seeds)));
      // For two entries of one seed the first counts.
      for (const one of learned.toReversed()) if (one !== undefined) ports.set(one[0], one[1]);
    }
    return [...new Set(ports.values())];
  };
}
