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

/** For a second Pointsman before the same cluster, and for `check --live`: its ports are 10 higher. */
export function secondConfig(scope: string, members: readonly SandboxMember[], addresses: Addresses): string {
  const { write, read, admin } = addresses;
  const others = { write: tenHigher(write), read: tenHigher(read), admin: tenHigher(admin) };
  return [
    '# The configuration of the Pointsman in the sandbox, with other ports: for a second one, and for check --live.',
    `# pointsman check --live -c FILE; pointsman run -c FILE; psql postgresql://app:app@${others.write}/app`,
    pointsmanConfig(scope, members, others),
  ].join('\n');
}

function tenHigher(address: string): string {
  return address.replace(/\d+$/, (port) => String(Number(port) + (Number(port) > 65_525 ? -10 : 10)));
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
