// The configuration with which the e2e tests put Pointsman before a cluster: what a user would write, on free ports.
import type { PatroniCluster } from './patroni/cluster.ts';

export interface ConfigOverrides {
  readonly pools?: Readonly<Record<string, unknown>>;
  readonly listeners?: readonly { readonly address: string; readonly pool: string }[];
  readonly [section: string]: unknown;
}

export function configFor(cluster: PatroniCluster, overrides: ConfigOverrides = {}): Record<string, unknown> {
  const members = cluster.members();
  const [first] = members;
  return {
    cluster: {
      scope: cluster.scope,
      seeds: members.map((member) => member.api),
      // The harness gives PostgreSQL a free port instead of 5432.
      allow: { ports: first === undefined ? [] : [first.port] },
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
