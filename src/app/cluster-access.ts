// Access to the cluster: the client of the members' APIs, and the discovery of the members. It is made anew when the
// section `cluster` of the configuration changes.
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { ContactSourceEvent } from '../reports/events.ts';
import type { Clock } from '../model/instant.ts';
import { createDiscovery } from '../discovery/discover.ts';
import type { Discovery } from '../discovery/discover.ts';
import { contactSourceEvent } from '../discovery/source-changes.ts';
import type { MembersSource, MembersSourceOptions } from '../kubernetes/members-source.ts';
import { createProbe } from '../patroni/probe.ts';
import type { Probe } from '../model/observation.ts';
import { createReader } from '../patroni/read-documents.ts';
import { tlsFromFiles } from '../patroni/tls-files.ts';

export interface ClusterAccess extends Discovery {
  readonly probe: Probe;
  /** Ends background work. */
  readonly close: () => void;
}

export interface ClusterAccessOptions {
  readonly clock: Clock;
  readonly tell: (event: ContactSourceEvent) => void;
  /** A pod came or went, or a role label changed: a reason to probe. */
  readonly onHint: () => void;
}

export function createClusterAccess(
  cluster: ClusterConfig,
  { clock, tell, onHint }: ClusterAccessOptions,
): ClusterAccess {
  const { tls: files } = cluster.api;
  const tls = files === undefined ? undefined : tlsFromFiles(files);
  const { kubernetes } = cluster;
  const source = kubernetes && openSource({ config: kubernetes, clock, random: Math.random, onNews: onHint });
  const discovery = createDiscovery({
    cluster,
    readCluster: createReader({ tls }).readCluster,
    clock,
    directory: source?.find,
    random: Math.random,
    onSource: (source, now) => tell(contactSourceEvent(source, now)),
  });
  return { ...discovery, probe: createProbe({ tls }), close: () => source?.close() };
}

/** Loaded on first use: it brings an HTTP client of its own, and most installations do not need it. */
export function openSource(options: MembersSourceOptions): MembersSource {
  let opened: Promise<MembersSource> | undefined;
  let isClosed = false;
  const open = async (): Promise<MembersSource> => {
    const { createMembersSource } = await import('../kubernetes/members-source.ts');
    const source = createMembersSource(options);
    if (isClosed) source.close();
    return source;
  };
  return {
    find: async () => {
      opened ??= open();
      return await (await opened).find();
    },
    close: () => {
      isClosed = true;
      void opened?.then((source) => source.close());
    },
  };
}
