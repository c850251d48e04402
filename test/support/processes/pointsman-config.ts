// The configuration with which the e2e tests put Pointsman before a cluster: a user's, but on free ports.
import type { ClusterTls, ClusterUnderTest } from '../patroni/cluster-under-test.ts';

export interface ConfigOverrides {
  readonly client?: object;
  readonly backend?: object;
  readonly pools?: Readonly<Record<string, unknown>>;
  readonly listeners?: readonly { readonly address: string; readonly pool: string }[];
  readonly [section: string]: unknown;
}

/** Encrypted on both sides if the cluster is. */
export function configFor(cluster: ClusterUnderTest, overrides: ConfigOverrides = {}): Record<string, unknown> {
  const members = cluster.members();
  return {
    cluster: {
      scope: cluster.scope,
      seeds: members.map((member) => member.api),
      // Free ports instead of 5432.
      allow: { ports: [...new Set(members.map(({ port }) => port))] },
    },
    listeners: [
      { address: '127.0.0.1:0', pool: 'write' },
      { address: '127.0.0.1:0', pool: 'read' },
    ],
    admin: { address: '127.0.0.1:0' },
    log: { level: 'debug', format: 'json' },
    ...overrides,
    ...(cluster.tls && tlsSections(cluster.tls, overrides)),
  };
}

interface Sections {
  readonly client?: object;
  readonly backend?: object;
}

function tlsSections({ caFile, cert, key }: ClusterTls, { client, backend }: Sections): Sections {
  return {
    client: { tls: { mode: 'require', cert, key }, ...client },
    backend: { tls: { mode: 'verify-full', ca_file: caFile, server_name: 'localhost' }, ...backend },
  };
}
