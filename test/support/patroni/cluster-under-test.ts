// A whole cluster as the scenario tests see it, on the sandbox or on Patroni: its members, the ways to break and mend
// it, and questions to it that do not go through Pointsman. Each verb returns when its effect can be seen, and fails
// after a deadline with the state of the cluster.
import type { ClusterDocument, Tags } from './documents.ts';
import type { Floor } from './floor.ts';
import type { MemberAddress } from './member.ts';
import type { Credentials } from './settings.ts';
import type { Row, SqlOptions } from './sql.ts';

/** Files: of the authority of all certificates, which are for `localhost` too, and of Pointsman's own certificate. */
export interface ClusterTls {
  readonly caFile: string;
  readonly cert: string;
  readonly key: string;
}

export interface ClusterUnderTest {
  readonly scope: string;
  /** An ordinary role, in its own database. */
  readonly app: Credentials;
  /** Undefined: plain text. */
  readonly tls: ClusterTls | undefined;
  members(): readonly MemberAddress[];
  member(name: string): MemberAddress;
  /** The member that calls itself the primary; waits for one. */
  leader(): Promise<MemberAddress>;
  /** One primary, and every member that was not killed streams from it. */
  waitUntilHealthy(): Promise<void>;
  /** For a test's own conditions. */
  waitUntil<T>(what: string, ask: () => Promise<T | undefined | false>, timeoutMs: number): Promise<T>;
  describeState(): Promise<string>;
  /** Resolves with the new leader, which takes writes. */
  switchover(options?: { readonly to?: string }): Promise<MemberAddress>;
  /** As if its host died, except that its ports refuse. */
  kill(name: string): Promise<void>;
  /** After a kill; returns when the member streams from the primary. */
  start(name: string): Promise<void>;
  /** Restarts PostgreSQL through the management API; returns when the member streams again, or is the primary. */
  restart(name: string): Promise<void>;
  /** Connects to the member's API succeed, but get no answer; its PostgreSQL goes on. */
  freezeManager(name: string): Promise<void>;
  thawManager(name: string): Promise<void>;
  /** The same with its PostgreSQL. Only a kill ends it. */
  freezePostgres(name: string): Promise<void>;
  /** The replica receives WAL but does not replay it. */
  lagReplica(name: string): Promise<void>;
  unlagReplica(name: string): Promise<void>;
  /** Replicas show a commit so long after it; they follow within seconds. Milliseconds. */
  setReplayDelay(delayMs: number): Promise<void>;
  setStoreOutage(isDown: boolean): Promise<void>;
  /** Replaces all tags. */
  setTags(name: string, tags: Tags): Promise<void>;
  /** Merged into the dynamic configuration (null removes a key); members follow within seconds. */
  patchConfig(patch: Readonly<Record<string, unknown>>): Promise<void>;
  /** On that member itself, as superuser in the app database unless told. */
  sql(name: string, text: string, options?: SqlOptions): Promise<Row[]>;
  /** From the first member that answers; undefined when none does. */
  clusterDocument(): Promise<ClusterDocument | undefined>;
  /** Starts at once. `excluding` is the old leader's name; without it the present primary wins immediately. */
  watchFirstDirectWrite(options?: { readonly excluding?: string; readonly timeoutMs?: number }): Floor;
  /** Leaves no process, port or file. */
  destroy(): Promise<void>;
}
