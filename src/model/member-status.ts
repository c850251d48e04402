// What a member says about itself, in the core's words. patroni/ translates either dialect's document into this.
// Every field may be missing: the management API does not fix the body of a health answer. It may only tighten a verdict.

/** Role by the body; names of old versions (`master`) and spellings (`standby leader`) are already folded. */
export type Role = 'primary' | 'replica' | 'standby_leader' | 'demoted' | 'promoted' | 'uninitialized' | 'unknown';

/** A WAL position in bytes. `invalid`: the field was there and was not a non-negative safe integer. */
export type WalPosition = number | 'invalid';

export interface MemberStatus {
  readonly role?: Role;
  /** `running` is the only state in which PostgreSQL serves; other values are shown as the API gave them. */
  readonly state?: string;
  readonly timeline?: number;
  /** `xlog.location` of a primary. */
  readonly location?: WalPosition;
  /** `xlog.received_location` of a replica: written to its disk. */
  readonly received?: WalPosition;
  /** `xlog.replayed_location` of a replica: visible to its queries. */
  readonly replayed?: WalPosition;
  /** `streaming`, `in archive recovery` …; absent before Patroni 3.0.4 and around a change of primary. */
  readonly replicationState?: string;
  readonly syncStandby?: boolean;
  readonly quorumStandby?: boolean;
  /** Values as a `tag_` parameter compares them: `str(value).lower()` for what is not a string. */
  readonly tags?: ReadonlyMap<string, string>;
  /** Truthiness as Python sees it: the string "false" counts as set (Patroni's tags.py). */
  readonly noloadbalance?: boolean;
  readonly scope?: string;
  readonly name?: string;
  readonly systemIdentifier?: string;
  readonly postmasterStartTime?: string;
  readonly serverVersion?: number;
  readonly apiVersion?: string;
  /** Epoch seconds of the member's last contact with its configuration store; shown, never compared with our clock. */
  readonly dcsLastSeen?: number;
  /** Informational: these three never open or close anything by themselves. */
  readonly pause?: boolean;
  readonly clusterUnlocked?: boolean;
  readonly failsafe?: boolean;
  readonly pendingRestart?: boolean;
  /** Which dialect the body's key announced. */
  readonly dialect?: 'patroni' | 'manager';
}
