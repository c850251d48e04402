// A cluster as discovery meets it, without sockets: contact points that give documents, a name server, a manual clock.
import { parseApiUrl } from '../../../src/config/schema/address.ts';
import type { ApiEndpoint } from '../../../src/model/member.ts';
import type { ConfiguredMember, ContactSource, DiscoveryConfig, SrvSeed } from '../../../src/model/cluster-config.ts';
import { createDiscovery } from '../../../src/discovery/discover.ts';
import type { Discovery, DiscoveryLimits } from '../../../src/discovery/discover.ts';
import type { SrvRecord } from '../../../src/discovery/name-server.ts';
import { readClusterDocument } from '../../../src/patroni/cluster-document.ts';
import type { ClusterRead } from '../../../src/patroni/read-documents.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

/** As the configuration has it. */
export function seed(url: string): ApiEndpoint {
  const parsed = parseApiUrl(url);
  if (parsed.kind === 'invalid') throw new Error(parsed.message);
  return parsed.value;
}

export function srvSeed(srv: string, scheme: 'http' | 'https' = 'http'): SrvSeed {
  return { url: `${scheme}+srv://${srv}`, scheme, srv };
}

export function configured(name: string, api: string, postgres?: { host: string; port: number }): ConfiguredMember {
  return { name, api: seed(api), postgres };
}

export function entryOf(name: string, host: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name,
    role: 'replica',
    state: 'streaming',
    api_url: `http://${host}:8008/patroni`,
    host,
    port: 5432,
    ...more,
  };
}

export interface FakeCluster {
  readonly discovery: Discovery;
  readonly clock: ManualClock;
  /** URL and address of every read, in order. */
  readonly reads: ApiEndpoint[];
  /** The answer of each `host:port`; absent: it refuses. */
  readonly documents: Map<string, unknown>;
  /** The addresses of each name; absent: ENOTFOUND. */
  readonly names: Map<string, readonly string[]>;
  /** SRV records of a name; absent: ENOTFOUND. */
  readonly services: Map<string, readonly SrvRecord[]>;
  /** Names asked for. */
  readonly lookups: string[];
  /** Requests to the sources of contact points, in order. */
  readonly sources: ContactSource[];
  /** The choice among equal contact points, from 0 to 1. */
  readonly random: { start: number };
}

export function fakeCluster(
  cluster: Partial<DiscoveryConfig> & { readonly limits?: Partial<DiscoveryLimits> },
): FakeCluster {
  const clock = new ManualClock();
  const reads: ApiEndpoint[] = [];
  const documents = new Map<string, unknown>();
  const names = new Map<string, readonly string[]>();
  const services = new Map<string, readonly SrvRecord[]>();
  const lookups: string[] = [];
  const sources: ContactSource[] = [];
  const random = { start: 0 };
  const { limits = {}, ...config } = cluster;
  const discovery = createDiscovery({
    cluster: {
      discovery: 'dynamic',
      seeds: [],
      members: [],
      ...config,
      allow: { networks: [], hosts: [], ports: [], ...config.allow },
    },
    clock,
    limits,
    random: () => random.start,
    onSource: (source) => sources.push(source),
    names: {
      lookup: async (host) => {
        lookups.push(host);
        return { addresses: names.get(host) ?? notFound(host) };
      },
      lookupSrv: async (name) => {
        lookups.push(name);
        return services.get(name) ?? notFound(name);
      },
    },
    readCluster: (api) => {
      reads.push(api);
      return Promise.resolve(answer(documents.get(`${api.address.host}:${api.address.port}`)));
    },
  });
  return { discovery, clock, reads, documents, names, services, lookups, sources, random };
}

function notFound(name: string): never {
  throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
}

function answer(document: unknown): ClusterRead {
  if (document === undefined) return { kind: 'refused' };
  if (document === 'hang') return { kind: 'failed', cause: 'timeout', detail: 'no whole answer' };
  const parsed = readClusterDocument(document);
  return parsed.kind === 'cluster' ? parsed : { kind: 'failed', cause: 'malformed', detail: parsed.why };
}
