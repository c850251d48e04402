// The server of a session: a member of the cluster, or the backend of a branch.
import type { Target } from '../core/routing-table.ts';
import type { BranchIdentity, BranchTls } from '../model/branch.ts';
import type { Address } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';

/** No trigger and no assignment concerns it: it is no member. */
export interface BranchServer {
  /** Made printable. */
  readonly branch: BranchIdentity;
  readonly address: Address;
  readonly tls: BranchTls;
}

export type Server = Target | BranchServer;

/** For messages: `pg-1`, `branch pr-1`. */
export function serverText(server: Server): string {
  return 'branch' in server ? `branch ${server.branch.name}` : server.member;
}

/** For messages: `pool "write"`, `branch "pr-1"`. `branch`: its name, for a session whose target is one. */
export function servedText(pool: PoolName, branch: string | undefined): string {
  return branch === undefined ? `pool "${pool}"` : `branch "${branch}"`;
}
