// Access to the cluster: the client of the members' APIs, and the discovery of the members. It is made anew when the
// section `cluster` of the configuration changes.
import type { ClusterControl } from '../cluster/control.ts';
import { readKeyPair } from '../config/files/key-pair.ts';
import { readPem } from '../config/files/pem.ts';
import type { ClusterConfig } from '../model/cluster-config.ts';
import type { ReportedEvent } from '../reports/events.ts';
import type { ContactSourceEvent } from '../reports/monitor-events.ts';
import type { Clock } from '../model/instant.ts';
import { createDiscovery, type Discovery } from '../discovery/discover.ts';
import { contactSourceEvent } from '../discovery/source-changes.ts';
import type { MembersSource, MembersSourceOptions } from '../kubernetes/members-source.ts';
import type { ApiAccess } from '../patroni/access.ts';
import { credentialsFrom } from '../patroni/credentials.ts';
import type { ReadHistory } from '../monitor/timeline-history.ts';
import { createProbe } from '../patroni/probe.ts';
import { THIS_MACHINE, type Machine } from './machine.ts';
import type { Probe } from '../model/observation.ts';
import { createReader } from '../patroni/read-documents.ts';
import { tlsFromFiles } from '../patroni/tls-files.ts';

export interface ClusterAccess extends Discovery {
  readonly probe: Probe;
  readonly readHistory: ReadHistory;
  /** Operates the cluster. Loaded on first use: a proxy that only routes does not need it. */
  readonly control: () => Promise<ClusterControl>;
  /** Ends background work. */
  readonly close: () => void;
}

export interface ClusterAccessOptions {
  readonly clock: Clock;
  readonly tell: (event: ContactSourceEvent | Extract<ReportedEvent, { kind: 'certificate_refused' }>) => void;
  /** A pod came or went, or a role label changed: a reason to probe. */
  readonly onHint: () => void;
  /** Default: this machine. */
  readonly machine?: Machine;
}

/** For one read of the history of timelines. Milliseconds. */
const HISTORY_MS = 5_000;

export function createClusterAccess(
  cluster: ClusterConfig,
  { clock, tell, onHint, machine: { random, wallClock, network } = THIS_MACHINE }: ClusterAccessOptions,
): ClusterAccess {
  const tls = apiAccess(cluster, (why) => tell({ kind: 'certificate_refused', why }));
  const access = { ...tls, transport: network?.transport };
  const reader = createReader(access);
  const { kubernetes } = cluster;
  const source = kubernetes && openSource({ config: kubernetes, clock, random, onNews: onHint });
  const discovery = createDiscovery({
    cluster,
    readCluster: reader.readCluster,
    clock,
    directory: source?.find,
    random,
    onSource: (source, now) => tell(contactSourceEvent(source, now)),
  });
  const openControl = async (): Promise<ClusterControl> => {
    const [{ DirectControl }, { createWrite }] = await Promise.all([
      import('../cluster/direct-control.ts'),
      import('../patroni/write.ts'),
    ]);
    return new DirectControl({
      seeds: [...cluster.seeds, ...cluster.members.map(({ api }) => api)].map(({ url }) => url).join(', '),
      find: () => discovery.discover(),
      reader,
      write: createWrite(access),
      hasCredentials: cluster.api.auth !== undefined,
      wallClock,
    });
  };
  let control: Promise<ClusterControl> | undefined;
  return {
    ...discovery,
    probe: createProbe(access),
    readHistory: async ({ api }) => {
      const read = await reader.readHistory(api, HISTORY_MS);
      // A document that is read in parts may lack the line that counts.
      return read.kind === 'history' && read.skipped === 0 ? read.entries : undefined;
    },
    control: () => (control ??= openControl()),
    close: () => source?.close(),
  };
}

/** `onRefused`: told of rotated TLS files that cannot be used. */
export function apiAccess({ api: { tls, auth } }: ClusterConfig, onRefused?: (why: string) => void): ApiAccess {
  return {
    tls: tls === undefined ? undefined : tlsFromFiles(tls, { readPem, readKeyPair, onRefused }),
    credentials: auth === undefined ? undefined : credentialsFrom(auth),
  };
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
