// The sandbox: a whole small cluster in this process and its children. For trying and testing, not for data.
import type { Tags } from './manager/view.ts';

export type DialectName = 'manager' | 'patroni';

export interface SandboxOptions {
  /** Default 3. */
  readonly members?: number;
  /** Default `sandbox`. */
  readonly scope?: string;
  /** How the management API speaks: its contract to the letter (`manager`, default) or as real Patroni does. */
  readonly dialect?: DialectName;
  /** Where `postgres`, `initdb` and `pg_ctl` are: the npm package (default), the system's, or a directory. */
  readonly postgres?: 'embedded' | 'system' | { readonly binaries: string };
  /** Keys to begin with besides the defaults (ttl 5, loop_wait 1, retry_timeout 2 …). */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Default: a new directory among the system's temporary ones. Removed at the end either way. */
  readonly directory?: string;
  readonly onEvent?: (event: SandboxEvent) => void;
}

export interface SandboxMember {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** {base_url} of the management API. */
  readonly api: string;
}

export type SandboxEvent =
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'leader_changed'; readonly leader: string | undefined; readonly timeline: number | undefined }
  | { readonly kind: 'member_state'; readonly member: string; readonly text: string }
  | { readonly kind: 'warning'; readonly text: string };

export interface Sandbox {
  readonly scope: string;
  readonly directory: string;
  readonly members: readonly SandboxMember[];
  /** An ordinary role that owns a database of the same name. */
  readonly app: { readonly user: string; readonly password: string; readonly database: string };
  readonly superuser: { readonly user: string; readonly password: string };
  /** Holder of the leader lock. */
  leader(): SandboxMember | undefined;
  /** Members with a fault that was inflicted and not healed. */
  faulty(): readonly string[];
  /** Every living member looked at: is the one primary taking writes and does everybody else stream from it? */
  isHealthy(): Promise<boolean>;
  /** The member's host dies: its manager and its PostgreSQL refuse connections. */
  kill(member: string): Promise<void>;
  /** The manager stops answering and deciding; connections to it are accepted and hang. PostgreSQL goes on. */
  freezeManager(member: string): Promise<void>;
  /** SIGSTOP for the member's PostgreSQL. */
  freezePostgres(member: string): Promise<void>;
  /** SIGKILL for the PostgreSQL alone: its manager sees a crash. */
  crashPostgres(member: string): Promise<void>;
  /** The replica receives WAL but does not replay it. */
  pauseReplay(member: string): Promise<void>;
  /** Rereads on POST /reload only, as a member's configuration file would be. */
  setTags(member: string, tags: Tags): Promise<void>;
  /** The store (etcd's place) answers nobody. */
  setStoreOutage(isDown: boolean): void;
  /** Undoes every fault of one member, or of all and the store: thawed, resumed, started again. */
  heal(member?: string): Promise<void>;
  /** Ends every process and removes the directory. Idempotent. */
  stop(): Promise<void>;
}
