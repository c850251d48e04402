// What the benchmark asks of each way to reach the cluster: write as one client, keep sessions, cancel a query.
import type { Attempt } from '../../support/applications/connect-load.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';

/** A session that was opened for writes and is watched for its end. */
export interface KeptSession {
  /** host:port, by the server's own account. */
  readonly server: string;
  /** monotonicMs(); undefined while it lives. */
  readonly endedAtMs: number | undefined;
  close(): Promise<void>;
}

/** A session of the read side in the middle of a long query. */
export interface LongQuery {
  readonly server: string;
  /** SQLSTATE with which the query ended; undefined while it runs. */
  readonly endedWith: string | undefined;
  /** As the client's library does it. Resolves when the request has been taken off its hands. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  /** One client that connects, inserts the row with this token, and leaves; never rejects. */
  write(token: number): Promise<Attempt>;
  keep(count: number): Promise<readonly KeptSession[]>;
  longQuery(): Promise<LongQuery>;
  /** On 127.0.0.1, for reads; undefined: it has no port. */
  readonly readPort: number | undefined;
  /** Whether writes go to the leader and reads to each replica by its own view, so that a scene may begin. */
  isSettled(leader: MemberAddress, replicas: readonly MemberAddress[]): Promise<boolean>;
  /** Its own log, where it has one: beside the figures, to explain them. */
  log(): readonly unknown[];
  stop(): Promise<void>;
}

/** Longer than Pointsman holds a client, so that no client of any peer gives up first. */
export const CONNECT_TIMEOUT_MS = 45_000;
export const LONG_QUERY = 'select pg_sleep(60)';
