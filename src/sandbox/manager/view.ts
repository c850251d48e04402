// A manager's knowledge of its own member and of the cluster, as plain data. Every answer of the API is made from these
// two. The words are those of the management API (node status document, cluster document), with real Patroni's
// additions.

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
  /** The server runs but does not answer a query. */
  | 'unknown';

/**
 * Values of a member's configuration file. Values that are not strings compare as their text in lower case (Patroni's
 * tags).
 */
export type Tags = Readonly<Record<string, string | number | boolean>>;

/** WAL positions are bytes from the beginning of the WAL. They stay below 2^53 for the life of a sandbox. */
export type WalView =
  | { readonly kind: 'primary'; readonly location: number }
  | {
      readonly kind: 'replica';
      readonly received: number;
      readonly replayed: number;
      /** ISO 8601, of the last replayed transaction. */
      readonly replayedAt: string | undefined;
      readonly isPaused: boolean;
    };

/** A row of pg_stat_replication, by the names there, which are those of the management API too. */
export interface ReplicationView {
  readonly usename: string;
  readonly application_name: string;
  readonly client_addr: string;
  readonly state: string;
  readonly sync_state: string;
  readonly sync_priority: number;
}

/** The conditions of POST /restart, by their names there. All that are present must hold. */
export interface RestartGuards {
  readonly restart_pending?: boolean | undefined;
  readonly role?: string | undefined;
  /** Restart only when the server's version is lower than this one, as PostgreSQL writes versions: 18.4. */
  readonly postgres_version?: string | undefined;
  /** Seconds. */
  readonly timeout?: number | undefined;
}

export interface ScheduledRestart extends RestartGuards {
  /** As given: ISO 8601 with an offset. */
  readonly schedule: string;
  /** The server's start time when the restart was scheduled. Another restart before the schedule makes it void. */
  readonly postmaster_start_time: string | undefined;
}

/** Parameter names with the current value and the value that waits for a restart. */
export type PendingRestart = Readonly<Record<string, { readonly old_value: string; readonly new_value: string }>>;

/** The last known values of a PostgreSQL that does not answer any more. */
export interface LastKnown {
  readonly postmasterStartTime: string;
  readonly serverVersion: number;
  readonly timeline: number;
  readonly wal: WalView;
}

/** The facts of a member that its manager knows without a query. */
export interface MemberKnowledge {
  readonly name: string;
  readonly apiUrl: string;
  readonly host: string;
  readonly port: number;
  readonly state: MemberState;
  readonly role: MemberRole;
  readonly systemIdentifier: string;
  readonly tags: Tags;
  readonly scheduledRestart: ScheduledRestart | undefined;
  /** The member holds the leader lock, as far as it knows. */
  readonly hasLock: boolean;
  /** Time since the last complete heartbeat. Milliseconds. */
  readonly heartbeatAgeMs: number;
  /** Epoch seconds of the last answer of the store. */
  readonly storeSeenAt: number;
  /** The last one that was read, also while the store does not answer. Undefined before the first. */
  readonly cluster: ClusterView | undefined;
  readonly isFailsafeActive: boolean;
  /** Undefined until PostgreSQL has answered once. */
  readonly lastKnown: LastKnown | undefined;
}

/** A view of one member now: its PostgreSQL was queried for it. State and role are those that it shows. */
export interface MemberView extends Omit<MemberKnowledge, 'apiUrl' | 'host' | 'port'> {
  /** ISO 8601 with an offset. Absent while PostgreSQL does not answer, as are the next five. */
  readonly postmasterStartTime: string | undefined;
  /** 180004 is 18.4. */
  readonly serverVersion: number | undefined;
  readonly timeline: number | undefined;
  readonly wal: WalView | undefined;
  /** The state of a replica's WAL receiver. */
  readonly replicationState: 'streaming' | 'in archive recovery' | undefined;
  readonly replication: readonly ReplicationView[];
  readonly pendingRestart: PendingRestart;
  readonly syncRole: 'synchronous' | 'quorum' | undefined;
}

/** The data that a member last published about itself. */
export interface PublishedMember extends Pick<
  MemberKnowledge,
  'name' | 'apiUrl' | 'host' | 'port' | 'role' | 'tags' | 'scheduledRestart'
> {
  /** `streaming` for a replica that streams. */
  readonly state: MemberState | 'streaming' | 'in archive recovery';
  readonly timeline: number | undefined;
  readonly received: number | undefined;
  readonly replayed: number | undefined;
  readonly lastKnown: Pick<LastKnown, 'timeline' | 'wal'> | undefined;
  readonly pendingRestart: PendingRestart;
}

export interface TimelineHistoryEntry {
  readonly timeline: number;
  /** The WAL position where that timeline ended, in bytes. */
  readonly endedAt: number;
  readonly reason: string;
  /** ISO 8601, the time when the next timeline was created. */
  readonly createdAt: string;
  readonly newLeader: string;
}

export interface SwitchoverRecord {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** ISO 8601 with an offset, as it was given. Undefined means now. */
  readonly at: string | undefined;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** The content of the store, read at once. */
export interface ClusterView {
  readonly scope: string;
  /** The lock's holder; undefined when the lock is free or has expired. */
  readonly leader: string | undefined;
  /** The leader's last WAL position recorded in the store (`cluster.last_leader_operation`). */
  readonly leaderPosition: number | undefined;
  readonly members: readonly PublishedMember[];
  readonly config: JsonObject;
  readonly history: readonly TimelineHistoryEntry[];
  readonly switchover: SwitchoverRecord | undefined;
  /** The names that the leader put into synchronous_standby_names. */
  readonly synchronous: readonly string[];
  readonly quorum: readonly string[];
}

/** Read from the dynamic configuration in one place, with defaults for absent keys. */
export interface ClusterSettings {
  readonly ttlMs: number;
  readonly loopWaitMs: number;
  readonly retryTimeoutMs: number;
  readonly maximumLagOnFailover: number;
  readonly isPaused: boolean;
  readonly isFailsafeMode: boolean;
  readonly synchronousMode: 'off' | 'on' | 'quorum';
  /** Undefined: an ordinary cluster. Without host and port it follows no server. */
  readonly standbyCluster: { readonly host?: string; readonly port?: number } | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}
