// The configuration with which Pointsman is put before the sandbox: what a user would write for such a cluster. Pure.
import { stringify } from 'yaml';
import type { SandboxMember } from '../sandbox.ts';

export interface Addresses {
  /** Each host:port. */
  readonly write: string;
  readonly read: string;
  readonly admin: string;
}

export function pointsmanConfig(scope: string, members: readonly SandboxMember[], addresses: Addresses): string {
  return stringify({
    cluster: {
      scope,
      seeds: members.map(({ api }) => api),
      // A member that answers as one of the cluster is contacted on the usual port only, unless told.
      allow: { ports: members.map(({ port }) => port) },
    },
    listeners: [
      { address: addresses.write, pool: 'write' },
      { address: addresses.read, pool: 'read' },
    ],
    admin: { address: addresses.admin },
  });
}
