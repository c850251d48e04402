// The configuration with which the e2e tests put Pointsman before a cluster: a user's, but on free ports.
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';

export interface ConfigOverrides {
  readonly pools?: Readonly<Record<string, unknown>>;
  readonly listeners?: readonly { readonly address: string; readonly pool: string }[];
  readonly [section: string]: unknown;
}

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
  };
}
