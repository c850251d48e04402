// A member's status as it reports it. patroni/ translates the document of either dialect into this. Every field may be
// missing: the management API does not define the body of a health answer. The body may only tighten a verdict.

/** From the body. Names of old versions (`master`) and spellings (`standby leader`) are already unified. */
export type Role = 'primary' | 'replica' | 'standby_leader' | 'demoted' | 'promoted' | 'uninitialized' | 'unknown';

/** A WAL position in bytes. `invalid`: the field is present and no non-negative safe integer. */
export type WalPosition = number | 'invalid';

export interface MemberStatus {
  readonly role?: Role;
  /** PostgreSQL serves in the state `running` only. Other values are shown as the API gives them. */
  readonly state?: string;
  readonly timeline?: number;
  /** When its PostgreSQL started (`postmaster_start_time`). Only compared. */
  readonly startedAt?: string;
  /** `xlog.location` of a primary. */
  readonly location?: WalPosition;
  /** `xlog.received_location` of a replica: on its disk. */
  readonly received?: WalPosition;
  /** `xlog.replayed_location` of a replica: visible to its queries. */
  readonly replayed?: WalPosition;
  /** `streaming` or `in archive recovery`. Patroni before 3.0.4 has none, nor has a replica that does neither. */
  readonly replicationState?: string;
  /** Values in the form that a `tag_` parameter is compared with: `str(value).lower()` unless they are strings. */
  readonly tags?: ReadonlyMap<string, string>;
  /** Python's truthiness: the string "false" counts as set (Patroni's tags.py). */
  readonly noloadbalance?: boolean;
  readonly scope?: string;
  readonly name?: string;
  readonly systemIdentifier?: string;
  /** A synchronous standby, by number or by quorum. */
  readonly isSynchronous?: boolean;
  /** For display only. `clusterUnlocked` also takes vouches back. */
  readonly pause?: boolean;
  readonly clusterUnlocked?: boolean;
  readonly failsafe?: boolean;
  /** Its last contact with the store of the leader lock (`dcs_last_seen`). Epoch seconds by its own clock. */
  readonly storeSeenAt?: number;
  readonly pendingRestart?: boolean;
  /** By the body's own key. */
  readonly dialect?: 'patroni' | 'manager';
}
