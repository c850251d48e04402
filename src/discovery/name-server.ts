// DNS lookups. A plain name is resolved by the system (hosts file, search list), which reports no TTL. A fully
// qualified name (with a final dot, and each SRV target) is resolved by the name servers directly, and its TTL counts.
import { lookup as lookupAll, Resolver } from 'node:dns/promises';
import type { NameAddresses, Lookup } from './resolve.ts';
import { errorCode } from '../model/errno.ts';

export interface SrvRecord {
  /** Without a final dot. */
  readonly target: string;
  readonly port: number;
  /** A lower priority is queried earlier. */
  readonly priority: number;
  readonly weight: number;
}

/** Rejects when there is no record. */
export type LookupSrv = (name: string) => Promise<readonly SrvRecord[]>;

export interface NameServerOptions {
  /** `127.0.0.1:53`; absent: the system's. */
  readonly servers?: readonly string[];
  /** Limit for one query to one server, milliseconds. There is a second try with twice the limit. */
  readonly timeoutMs?: number;
}

export interface NameServer {
  readonly lookup: Lookup;
  readonly lookupSrv: LookupSrv;
}

/** Codes for a name without such records. Other codes mean that the lookup failed. */
const NONE = ['ENODATA', 'ENOTFOUND'];

export function createNameServer({ servers, timeoutMs = 600 }: NameServerOptions = {}): NameServer {
  /** A new resolver per query: it reads the list of name servers when it is created. */
  function resolver(): Resolver {
    const made = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers !== undefined) made.setServers(servers);
    return made;
  }

  async function lookupQualified(host: string): Promise<NameAddresses> {
    const query = resolver();
    const [v4, v6] = await Promise.allSettled([
      query.resolve4(host, { ttl: true }),
      query.resolve6(host, { ttl: true }),
    ]);
    // Some servers fail on every IPv6 query. A failed IPv4 query must not remove IPv4 addresses.
    if (v4.status === 'rejected' && (v6.status === 'rejected' || !NONE.includes(errorCode(v4.reason)))) throw v4.reason;
    const records = [v4, v6].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    return {
      addresses: records.map(({ address }) => address),
      ttlMs: records.reduce((least, { ttl }) => Math.min(least, ttl), Infinity) * 1000,
    };
  }

  return {
    lookup: (host) => (host.endsWith('.') ? lookupQualified(host.slice(0, -1)) : systemLookup(host)),
    lookupSrv: async (name) => {
      const records = await resolver().resolveSrv(name.replace(/\.$/, ''));
      return records.map(({ name: target, port, priority, weight }) => ({ target, port, priority, weight }));
    },
  };
}

/** Uses getaddrinfo, so /etc/hosts counts. IPv4 first: `localhost` should find a server on 127.0.0.1. */
async function systemLookup(host: string): Promise<NameAddresses> {
  const found = await lookupAll(host, { all: true, order: 'ipv4first' });
  return { addresses: found.map((entry) => entry.address) };
}
