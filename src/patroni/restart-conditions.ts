// When a member restarts, as the management API takes it.

/** Conditions of POST /restart. A member that does not meet them does not restart. */
export interface RestartConditions {
  readonly restart_pending?: true;
  readonly role?: 'primary' | 'replica' | 'standby_leader';
  /** Restart only below this version: `15.4`. */
  readonly postgres_version?: string;
  /** As PostgreSQL writes durations: seconds, or `30s`. */
  readonly timeout?: number | string;
  /** ISO 8601 with offset. */
  readonly schedule?: string;
}
