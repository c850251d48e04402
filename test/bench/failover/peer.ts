// The interface of each way to reach the cluster: write as one client, keep sessions, cancel a query.
import type { Attempt } from '../../support/applications/connect-load.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';

/** An open session for writes that is watched for its end. */
export interface KeptSession {
  /** host:port, as the server itself reports it. */
  readonly server: string;
  /** A time of monotonicMs(); undefined while the session lives. */
  readonly endedAtMs: number | undefined;
  close(): Promise<void>;
}

/** A session of the read side with a long query. */
export interface LongQuery {
  readonly server: string;
  /** The SQLSTATE at the end of the query; undefined while it runs. */
  readonly endedWith: string | undefined;
  /** Cancels as the client's library does it. Resolves when the request is sent. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  /** One client connects, inserts the row with this token, and leaves; never rejects. */
  write(token: number): Promise<Attempt>;
  keep(count: number): Promise<readonly KeptSession[]>;
  longQuery(): Promise<LongQuery>;
  /** The port for reads on 127.0.0.1; undefined for a peer without one. */
  readonly readPort: number | undefined;
  /** Whether the peer's own view routes writes to the leader and reads to each replica, so that a scene may begin. */
  isSettled(leader: MemberAddress, replicas: readonly MemberAddress[]): Promise<boolean>;
  /** The peer's own log, if it has one; it explains the figures. */
  log(): readonly unknown[];
  stop(): Promise<void>;
}

/** Longer than Pointsman's hold, so that no client of any peer gives up first. */
export const CONNECT_TIMEOUT_MS = 45_000;
export const LONG_QUERY = 'select pg_sleep(60)';
