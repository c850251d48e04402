// Questions to DNS. A name is looked up as everything on this machine does it (hosts file, search list), which tells no TTL. One that
// ends with a dot is whole, as is every target of SRV records: the name servers are asked for it, and its TTL counts.
import { lookup as lookupAll, Resolver } from 'node:dns/promises';
import type { Found, Lookup } from './resolve.ts';

export interface SrvRecord {
  /** Without a final dot. */
  readonly target: string;
  readonly port: number;
  /** The lower the earlier it is asked. */
  readonly priority: number;
  readonly weight: number;
}

/** Rejects when there is none. */
export type LookupSrv = (name: string) => Promise<readonly SrvRecord[]>;

export interface NameServerOptions {
  /** `127.0.0.1:53`; absent: the system's. */
  readonly servers?: readonly string[];
  /** For one question to one server; milliseconds. It is asked twice, the second time for twice as long. */
  readonly timeoutMs?: number;
}

export interface NameServer {
  readonly lookup: Lookup;
  readonly lookupSrv: LookupSrv;
}

/** What says that a name has no such records, and not that nobody could tell. */
const NONE = ['ENODATA', 'ENOTFOUND'];

export function createNameServer({ servers, timeoutMs = 600 }: NameServerOptions = {}): NameServer {
  /** A new one for each question: it reads which servers there are when it is made. */
  function resolver(): Resolver {
    const made = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers !== undefined) made.setServers(servers);
    return made;
  }

  async function lookupWhole(host: string): Promise<Found> {
    const asked = resolver();
    const [v4, v6] = await Promise.allSettled([
      asked.resolve4(host, { ttl: true }),
      asked.resolve6(host, { ttl: true }),
    ]);
    // Some servers fail on every question for IPv6; half an answer in the other family would take addresses away.
    if (v4.status === 'rejected' && (v6.status === 'rejected' || !NONE.includes(codeOf(v4.reason)))) throw v4.reason;
    const records = [v4, v6].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const ttls = records.map(({ ttl }) => ttl);
    return { addresses: records.map(({ address }) => address), ttlMs: Math.min(...ttls) * 1000 };
  }

  return {
    lookup: (host) => (host.endsWith('.') ? lookupWhole(host.slice(0, -1)) : systemLookup(host)),
    lookupSrv: async (name) => {
      const records = await resolver().resolveSrv(name.replace(/\.$/, ''));
      return records.map(({ name: target, port, priority, weight }) => ({ target, port, priority, weight }));
    },
  };
}

/** getaddrinfo, so that /etc/hosts counts. IPv4 first: `localhost` should find what listens on 127.0.0.1. */
async function systemLookup(host: string): Promise<Found> {
  const found = await lookupAll(host, { all: true, order: 'ipv4first' });
  return { addresses: found.map((entry) => entry.address) };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
