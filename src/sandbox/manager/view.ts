// What a manager knows of its own member and of the cluster, as plain data: everything the API answers is made from these two. The
// words are those of the management API (node status document, cluster document) with the additions real Patroni makes.

export type MemberRole = 'primary' | 'replica' | 'standby_leader' | 'demoted' | 'uninitialized';

export type MemberState =
  | 'running'
  | 'starting'
  | 'stopping'
  | 'stopped'
  | 'restarting'
  | 'crashed'
  | 'start failed'
  | 'creating replica'
  /** The server lives but does not answer a query. */
  | 'unknown';

/** Values of a member's configuration file; compared as text in lower case unless they are strings (Patroni's tags). */
export type Tags = Readonly<Record<string, string | number | boolean>>;

/** WAL positions are bytes from the beginning of the WAL; below 2^53 for as long as a sandbox lives. */
export type WalView =
  | { readonly kind: 'primary'; readonly location: number }
  | {
      readonly kind: 'replica';
      readonly received: number;
      readonly replayed: number;
      /** ISO 8601, of the last transaction replayed. */
      readonly replayedAt: string | undefined;
      readonly isPaused: boolean;
    };

/** A row of pg_stat_replication. */
export interface ReplicationView {
  readonly usename: string;
  readonly applicationName: string;
  readonly clientAddress: string;
  readonly state: string;
  readonly syncState: string;
  readonly syncPriority: number;
}

/** The conditions of POST /restart; all present ones must hold. */
export interface RestartConditions {
  readonly role?: string;
  /** Restart only when the server's version is lower than this, as PostgreSQL writes versions: 18.4. */
  readonly postgresVersion?: string;
  readonly isPendingOnly?: boolean;
  readonly timeoutSeconds?: number;
}

export interface ScheduledRestart extends RestartConditions {
  /** ISO 8601 with an offset, as it was given. */
  readonly schedule: string;
  /** Of the server when it was scheduled: another restart in between makes it void. */
  readonly postmasterStartTime: string | undefined;
}

/** Parameter name to the value in use and the one that waits for a restart. */
export type PendingRestart = Readonly<Record<string, { readonly oldValue: string; readonly newValue: string }>>;

/** What a PostgreSQL that answers no more last said. */
export interface LastKnown {
  readonly postmasterStartTime: string;
  readonly serverVersion: number;
  readonly timeline: number;
  readonly wal: WalView;
}

/** One member, looked at in this moment: its PostgreSQL was asked for this answer. */
export interface MemberView {
  readonly name: string;
  readonly state: MemberState;
  readonly role: MemberRole;
  /** ISO 8601 with an offset; absent while PostgreSQL does not answer, as are the next five. */
  readonly postmasterStartTime: string | undefined;
  /** 180004 is 18.4. */
  readonly serverVersion: number | undefined;
  readonly timeline: number | undefined;
  readonly wal: WalView | undefined;
  /** Undefined until PostgreSQL has answered once. */
  readonly lastKnown: LastKnown | undefined;
  /** Of a replica's WAL receiver. */
  readonly replicationState: 'streaming' | 'in archive recovery' | undefined;
  readonly replication: readonly ReplicationView[];
  readonly systemIdentifier: string;
  readonly tags: Tags;
  readonly pendingRestart: PendingRestart;
  readonly scheduledRestart: ScheduledRestart | undefined;
  /** Holds the leader lock, as far as it knows. */
  readonly hasLock: boolean;
  readonly syncRole: 'synchronous' | 'quorum' | undefined;
  /** Since the heartbeat loop last ran to its end. */
  readonly heartbeatAgeMs: number;
  /** Epoch seconds of the last word with the store. */
  readonly storeSeenAt: number;
  /** The last one read, when the store does not answer. Undefined before the first. */
  readonly cluster: ClusterView | undefined;
  readonly isFailsafeActive: boolean;
}

/** What a member last published of itself. */
export interface PublishedMember {
  readonly name: string;
  readonly apiUrl: string;
  readonly host: string;
  readonly port: number;
  readonly role: MemberRole;
  /** A replica that streams says `streaming`. */
  readonly state: MemberState | 'streaming' | 'in archive recovery';
  readonly timeline: number | undefined;
  readonly received: number | undefined;
  readonly replayed: number | undefined;
  readonly lastKnown: Pick<LastKnown, 'timeline' | 'wal'> | undefined;
  readonly tags: Tags;
  readonly pendingRestart: PendingRestart;
  readonly scheduledRestart: ScheduledRestart | undefined;
}

export interface HistoryEntry {
  readonly timeline: number;
  /** WAL position at which that timeline ended, bytes. */
  readonly endedAt: number;
  readonly reason: string;
  /** ISO 8601: when the next timeline was made. */
  readonly createdAt: string;
  readonly newLeader: string;
}

export interface PlannedSwitchover {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** ISO 8601 with an offset, as it was given; undefined means now. */
  readonly at: string | undefined;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** What the store holds, read at once. */
export interface ClusterView {
  readonly scope: string;
  /** The lock's holder; undefined when it is free or has run out. */
  readonly leader: string | undefined;
  /** The leader's last WAL position recorded in the store (`cluster.last_leader_operation`). */
  readonly leaderPosition: number | undefined;
  readonly members: readonly PublishedMember[];
  readonly config: JsonObject;
  readonly history: readonly HistoryEntry[];
  readonly switchover: PlannedSwitchover | undefined;
  /** Names, as the leader put them into synchronous_standby_names. */
  readonly synchronous: readonly string[];
  readonly quorum: readonly string[];
}

/** Read from the dynamic configuration in one place, with defaults for what is absent. */
export interface ClusterSettings {
  readonly ttlMs: number;
  readonly loopWaitMs: number;
  readonly retryTimeoutMs: number;
  readonly maximumLagOnFailover: number;
  readonly isPaused: boolean;
  readonly isFailsafeMode: boolean;
  readonly synchronousMode: 'off' | 'on' | 'quorum';
  /** Undefined: an ordinary cluster. Without host and port it follows nobody. */
  readonly standbyCluster: { readonly host?: string; readonly port?: number } | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}
