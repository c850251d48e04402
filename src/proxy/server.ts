// The server of a session: a member of the cluster, or the backend of a branch; and how a connection to one is opened.
import type { ProxySocket } from './socket.ts';
import type { LookupFunction } from 'node:net';
import type { Target } from '../core/routing-table.ts';
import type { BranchIdentity, BranchTls } from '../model/branch.ts';
import type { Address } from '../model/member.ts';
import type { Clock } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import type { TlsFault } from '../model/tls-fault.ts';
import type { DialOutcome } from '../reports/events.ts';

/** No trigger and no assignment concerns it: it is no member. */
export interface BranchServer {
  /** Made printable. */
  readonly branch: BranchIdentity;
  readonly address: Address;
  readonly tls: BranchTls;
}

export type Server = Target | BranchServer;

/** The end of one attempt to connect. */
export type DialResult =
  | { readonly kind: 'connected'; readonly socket: ProxySocket }
  | {
      readonly kind: 'failed';
      readonly outcome: Exclude<DialOutcome, 'connected' | 'outraced'>;
      /** This machine ran out of a resource or has no route, which says nothing about the member. */
      readonly isLocalFault: boolean;
      /** Another attempt gives the same result, until somebody changes a certificate or a setting. */
      readonly isLasting?: boolean;
      /** The server was reached, and the connection could not be encrypted. */
      readonly tlsFault?: TlsFault;
      /** No address is known for the name. */
      readonly isUnresolvable?: true;
      /** For a message: `connection refused`. */
      readonly detail: string;
    };

export interface DialLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The client has TLS with the server: the connection stays as it is. */
  readonly isEncrypted?: boolean;
  /** The server answers with a secret: TLS overwrites what it has decrypted. */
  readonly bringsSecret?: boolean;
  /** The server has accepted the connection, and TLS begins. */
  readonly onReached?: (() => void) | undefined;
  /** Resolves the name of the host. Default: Node's. */
  readonly lookup?: LookupFunction | undefined;
}

/** Returns the abort, which is idempotent and does nothing after the result. */
export type Dial = (address: Address, limits: DialLimits, onResult: (result: DialResult) => void) => () => void;

/** As Dial. */
export type DialServer = (server: Server, limits: DialLimits, onResult: (result: DialResult) => void) => () => void;

/** For messages: `pg-1`, `branch pr-1`. */
export function serverText(server: Server): string {
  return 'branch' in server ? `branch ${server.branch.name}` : server.member;
}

/** For messages: `pool "write"`, `branch "pr-1"`. `branch`: its name, for a session whose target is one. */
export function servedText(pool: PoolName, branch: string | undefined): string {
  return branch === undefined ? `pool "${pool}"` : `branch "${branch}"`;
}
