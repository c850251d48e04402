// The configuration with which the e2e tests put Pointsman before a cluster: a user's, but on free ports.
import type { ClusterTls, ClusterUnderTest } from '../patroni/cluster-under-test.ts';

export interface ConfigOverrides {
  readonly client?: object;
  readonly backend?: object;
  readonly pools?: Readonly<Record<string, unknown>>;
  readonly listeners?: readonly { readonly address: string; readonly pool: string }[];
  readonly [section: string]: unknown;
}

interface Sections extends Record<string, unknown> {
  readonly cluster: object;
}

/** Encrypted on both sides if the cluster is. */
export function configFor(cluster: ClusterUnderTest, overrides: ConfigOverrides = {}): Sections {
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

function tlsSections({ caFile, cert, key }: ClusterTls, { client, backend }: ConfigOverrides): ConfigOverrides {
  return {
    client: { tls: { mode: 'require', cert, key }, ...client },
    backend: { tls: { mode: 'verify-full', ca_file: caFile, server_name: 'localhost' }, ...backend },
  };
}
