// Who asks the members for this process: the client of their APIs, and the discovery that says which they are. Made anew when
// the cluster's section of the configuration changes.
import type { ClusterConfig } from './config/config.ts';
import type { ContactSourceEvent } from './core/events.ts';
import type { Clock } from './core/instant.ts';
import { createDiscovery } from './discovery/discover.ts';
import type { Discovery } from './discovery/discover.ts';
import { contactSourceEvent } from './discovery/source-news.ts';
import { createProbe } from './patroni/probe.ts';
import type { Probe } from './patroni/probe.ts';
import { createReader } from './patroni/read-documents.ts';
import { tlsFromFiles } from './patroni/tls-files.ts';

export interface Clients extends Discovery {
  readonly probe: Probe;
}

export interface ClientsOptions {
  readonly clock: Clock;
  readonly tell: (event: ContactSourceEvent) => void;
}

export function createClients(cluster: ClusterConfig, { clock, tell }: ClientsOptions): Clients {
  const { tls: files, dialect } = cluster.api;
  const tls = files === undefined ? undefined : tlsFromFiles(files);
  const discovery = createDiscovery({
    cluster,
    readCluster: createReader({ tls, dialect }).readCluster,
    clock,
    random: Math.random,
    onSource: (source, now) => tell(contactSourceEvent(source, now)),
  });
  return { ...discovery, probe: createProbe({ tls }) };
}
