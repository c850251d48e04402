// The sandbox: a small cluster in this process and its children. It is for trying and testing, not for data.
import type { Tags } from './manager/view.ts';
import type { Initialize } from './postgres/template.ts';

export type DialectName = 'manager' | 'patroni';

export interface SandboxOptions {
  /** Default 3. */
  readonly members?: number;
  /** Default `sandbox`. */
  readonly scope?: string;
  /**
   * The dialect of the management API: exactly as the API is defined (`manager`, the default), or like real Patroni.
   */
  readonly dialect?: DialectName;
  /** The source of `postgres`, `initdb` and `pg_ctl`: the npm package (default), the system, or a directory. */
  readonly postgres?: 'embedded' | 'system' | { readonly binaries: string };
  /** Makes the database cluster that all members are copies of. Default: initdb. */
  readonly initialize?: Initialize;
  /** Initial keys besides the defaults (ttl 5, loop_wait 1, retry_timeout 2 …). */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Default: a new temporary directory. It is removed at the end in any case. */
  readonly directory?: string;
  /** With the APIs of a storage node and of a console, which make branches of the cluster. Default: without. */
  readonly branches?: boolean;
  /** With the role that looks verifiers up, for sessions that move and logins that bind. Default: without. */
  readonly lookup?: boolean;
  /** With the role that asks for WAL positions, and a certificate of Pointsman, for causal reads. Default: without. */
  readonly questions?: boolean;
  /** With a model platform that stores skills and files. Default: without. */
  readonly platform?: boolean;
  /** The servers take TLS alone. Default: they have no TLS. */
  readonly tls?: boolean;
  readonly onEvent?: (event: SandboxEvent) => void;
}

/** Where a branch listens. */
export interface BranchPlace {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

/** The storage node and the console, on loopback. */
export interface SandboxBranches {
  /** Base address of the storage node's management API. */
  readonly storageUrl: string;
  /** Base address of the console, without `/api/v2`. */
  readonly consoleUrl: string;
  readonly tenant: string;
  /** The timeline that is the cluster itself. */
  readonly rootTimeline: string;
  readonly project: string;
  /** The file with the console's API key. */
  readonly apiKeyFile: string;
  /** For the names of timelines. It does not exist at first. */
  readonly namesFile: string;
  /** 18 */
  readonly pgMajor: number;
  /** By timeline id, the root first. */
  timelines(): readonly BranchPlace[];
  /** The same of the console's branches, by their own id: of those with an endpoint for writes. */
  projectBranches(): readonly BranchPlace[];
  /** The standby of each branch of the console that has an endpoint for reads alone. */
  projectReaders(): readonly BranchPlace[];
  /** Called when a branch comes or goes. A creation waits until the listener is done. */
  onChange(listener: () => Promise<void>): void;
}

/** The lookup role, for the sections `moves` and `logins` of Pointsman's configuration. */
export interface SandboxLookup {
  readonly role: string;
  readonly lookupUser: string;
  readonly passwordFile: string;
}

/** The role that asks for WAL positions, for the section `questions`; and a certificate for clients that want TLS. */
export interface SandboxQuestions {
  readonly user: string;
  readonly passwordFile: string;
  readonly cert: string;
  readonly key: string;
}

/** The files of an authority of the sandbox's own, and of Pointsman's certificate, for 127.0.0.1 and localhost. */
export interface SandboxTls {
  readonly caFile: string;
  readonly cert: string;
  readonly key: string;
}

/** The model platform, on loopback. No model is behind it. */
export interface SandboxPlatform {
  /** Its address before `/v1`. */
  readonly url: string;
  /** The file with the key that each request has in the header `authHeader`. */
  readonly apiKeyFile: string;
  readonly authHeader: string;
  readonly betaHeader: string;
  /** The names of the files in the forms of skills and of files. */
  readonly skillsField: string;
  readonly fileField: string;
  /** Takes a request for a message, and says whether the platform would take it. */
  readonly messageCheck: string;
}

export interface SandboxMember {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** {base_url} of the management API. */
  readonly api: string;
}

export interface SandboxEvent {
  readonly kind: 'progress' | 'leader_changed' | 'member_state' | 'warning';
  /** One line. */
  readonly text: string;
}

export interface Sandbox {
  readonly scope: string;
  readonly directory: string;
  readonly members: readonly SandboxMember[];
  /** An ordinary role that owns the database of the same name. */
  readonly app: { readonly user: string; readonly password: string; readonly database: string };
  readonly superuser: { readonly user: string; readonly password: string };
  /** Undefined: the sandbox was started without them. */
  readonly branches: SandboxBranches | undefined;
  /** Undefined: the sandbox was started without it. */
  readonly platform: SandboxPlatform | undefined;
  /** Undefined: without it. */
  readonly lookup: SandboxLookup | undefined;
  /** Undefined: without it. */
  readonly questions: SandboxQuestions | undefined;
  /** Undefined: without TLS. */
  readonly tls: SandboxTls | undefined;
  /** The holder of the leader lock. */
  leader(): SandboxMember | undefined;
  /** Members with a fault that was not healed yet. */
  faulty(): readonly string[];
  /** Looks at every running member: does the one primary accept writes, and do all others stream from it? */
  isHealthy(): Promise<boolean>;
  /** The member's host dies: its manager and its PostgreSQL refuse connections. */
  kill(member: string): Promise<void>;
  /** The manager stops answering and deciding. Its port accepts connections that then hang. PostgreSQL goes on. */
  freezeManager(member: string): Promise<void>;
  /** Sends SIGSTOP to the member's PostgreSQL. */
  freezePostgres(member: string): Promise<void>;
  /** SIGKILL for PostgreSQL alone: its manager sees a crash. */
  crashPostgres(member: string): Promise<void>;
  /** The replica receives WAL without replaying it. */
  pauseReplay(member: string): Promise<void>;
  /**
   * The member is cut off from the other members and from the store: nothing streams from it or to it. Clients and
   * Pointsman still reach it, as from another network.
   */
  partition(member: string): Promise<void>;
  /** Delays the answers of its API by `ms`, and on a replica the apply of WAL. */
  slow(member: string, ms: number): Promise<void>;
  /** Takes effect on POST /reload only, like a change of a member's configuration file. */
  setTags(member: string, tags: Tags): Promise<void>;
  /** The store, which replaces etcd, answers no request. */
  setStoreOutage(isDown: boolean): void;
  /** Undoes every fault of one member, or of all members and the store: thaws, resumes, starts again. */
  heal(member?: string): Promise<void>;
  /** Ends every process and removes the directory. Idempotent. */
  stop(): Promise<void>;
}
