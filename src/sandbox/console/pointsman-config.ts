// The configuration of the Pointsman in front of the sandbox, as a user would write it for such a cluster. Pure.
import { stringify } from 'yaml';
import type { SandboxMember } from '../sandbox.ts';

/** Known to everybody, as the passwords are: what listens is on loopback. */
export const ADMIN_TOKEN = 'sandbox-operator';

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
      // Without this, a listed member is contacted on the usual port only.
      allow: { ports: members.map(({ port }) => port) },
    },
    listeners: [
      { address: addresses.write, pool: 'write' },
      { address: addresses.read, pool: 'read' },
    ],
    admin: { address: addresses.admin, token: ADMIN_TOKEN },
  });
}
