// The operator's view of the cluster, and the operations on it: the write half of the management API. A command of
// `pointsman cluster` uses one of two implementations: the members' own APIs, or a running Pointsman's admin API.
// Documents have the JSON names of the admin API and of `--json`.
import type { MemberName } from '../model/member.ts';
import type { ParameterChange } from '../patroni/restart-state.ts';
import type { RestartConditions } from '../patroni/restart-conditions.ts';

/** Present in a member's own report: the cluster is not in its ordinary state. */
export type Indicator = 'pause' | 'cluster_unlocked' | 'failsafe_mode_is_active';

/** One member as /cluster and its own status report it. Null: unknown, or not reported by this version. */
export interface MemberReport {
  readonly name: MemberName;
  /** `leader`, `standby_leader`, `sync_standby`, `quorum_standby`, `replica` or `unknown`. */
  readonly role: string;
  readonly state: string | null;
  /** The base URL of its management API. */
  readonly api: string | null;
  /** host:port of PostgreSQL. */
  readonly postgres: string | null;
  readonly timeline: number | null;
  /** Bytes behind the leader: replayed if the version reports it, else received. */
  readonly lag_bytes: number | null;
  /** Bytes, from its own report: written by a leader, replayed by any other member. */
  readonly wal_position: number | null;
  /** Of its own report. Empty as well if it did not answer. */
  readonly indicators: readonly Indicator[];
  readonly tags: Readonly<Record<string, string>>;
  readonly pending_restart: boolean;
  /** The parameters that need the restart, as Patroni 3.3 and later report them. */
  readonly pending_restart_reason?: Readonly<Record<string, ParameterChange>>;
  /** ISO 8601. */
  readonly scheduled_restart?: string;
}

export interface ClusterReport {
  readonly scope: string | null;
  readonly paused: boolean;
  readonly leader: MemberName | null;
  readonly members: readonly MemberReport[];
  /** False: this API has no fields for pending and scheduled restarts, so that their absence says nothing. */
  readonly reports_restarts: boolean;
  /** `at`: ISO 8601 with offset. */
  readonly scheduled_switchover: {
    readonly at: string;
    readonly from: MemberName | null;
    readonly to: MemberName | null;
  } | null;
  /** Listed members that the address rules refuse, or whose entry cannot be read. */
  readonly refused_members: readonly { readonly name: MemberName; readonly why: string }[];
}

/** One entry of GET /history. */
export interface HistoryEntry {
  readonly timeline: number;
  /** Bytes. */
  readonly lsn: number;
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string | null;
  readonly new_leader: MemberName | null;
}

export type ClusterConfiguration = Readonly<Record<string, unknown>>;

/** `why`: one sentence for the operator. */
export type Reading<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The operator's own knowledge of parameters whose values no member reports (Patroni before 3.3). */
export type GivenOrder = 'primary_first' | 'standbys_first';

/** One request to the management API. */
export type ClusterOperation =
  | {
      readonly kind: 'switchover';
      readonly leader: MemberName;
      readonly candidate?: MemberName;
      readonly scheduled_at?: string;
    }
  | { readonly kind: 'cancel_switchover' }
  | { readonly kind: 'failover'; readonly candidate: MemberName; readonly leader?: MemberName }
  /** `any_order`: also when the members must restart in another order. Neither it nor `order` is sent. */
  | ({
      readonly kind: 'restart';
      readonly member: MemberName;
      readonly order?: GivenOrder;
      readonly any_order?: true;
    } & RestartConditions)
  | { readonly kind: 'cancel_restart'; readonly member: MemberName }
  | { readonly kind: 'reload'; readonly member: MemberName }
  | {
      readonly kind: 'reinitialize';
      readonly member: MemberName;
      readonly force?: true;
      readonly from_leader?: true;
    }
  /** A null removes a key. */
  | { readonly kind: 'patch_config'; readonly changes: ClusterConfiguration }
  | { readonly kind: 'replace_config'; readonly config: ClusterConfiguration }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' };

/** The request that an operation would send: what --dry-run shows. Without credentials. */
export interface PlannedRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** JSON; undefined: no body. */
  readonly body?: unknown;
}

/** `text`: one sentence for the operator, with the member's own reason. `reason`: the member's body, on one line. */
export type OperationResult =
  | {
      /** 200, 202. */
      readonly kind: 'done' | 'scheduled';
      readonly text: string;
      readonly reason: string;
      /** The resulting configuration of patch_config and replace_config. */
      readonly config?: ClusterConfiguration;
    }
  /** A rule of Pointsman forbids it: no request was sent. */
  | { readonly kind: 'refused'; readonly text: string }
  | {
      /**
       * `invalid`: 400, and Patroni's 422 for times. `precondition`: 412, and Patroni's 404 and 409. `failed`: 5xx.
       * `unauthorized`: 401 and 403. `unexpected`: any other status.
       */
      readonly kind: 'invalid' | 'precondition' | 'failed' | 'unauthorized' | 'unexpected';
      readonly status: number;
      readonly text: string;
      readonly reason: string;
    }
  /** No answer. `may_have_happened`: the request was sent, so the operation may be under way. */
  | { readonly kind: 'no_answer'; readonly text: string; readonly may_have_happened: boolean };

/** None of these rejects. */
export interface ClusterControl {
  /** Where the answers come from, for the operator: `http://10.0.0.11:8008` or `the Pointsman at 127.0.0.1:8432`. */
  readonly source: string;
  readonly report: () => Promise<Reading<ClusterReport>>;
  readonly history: () => Promise<Reading<readonly HistoryEntry[]>>;
  readonly config: () => Promise<Reading<ClusterConfiguration>>;
  /** The request that `perform` would send now. It may read the members; it changes nothing. */
  readonly plan: (operation: ClusterOperation) => Promise<Reading<PlannedRequest>>;
  readonly perform: (operation: ClusterOperation) => Promise<OperationResult>;
}
