// The operations of a manager and their outcomes. The API turns outcomes into status codes.
import type { ClusterView, JsonObject, MemberRole, MemberView, RestartGuards } from './view.ts';

/**
 * The outcome of an operation, named by the distinctions of the management API ("Errors"): `done` 200, `accepted` 202,
 * `invalid` 400, `refused` 412, `failed` 503. Finer kinds of `refused` exist because real Patroni gives them codes of
 * their own. `text` is the body: the reason.
 */
export interface ManagerOutcome {
  readonly kind:
    | 'done'
    | 'accepted'
    | 'invalid'
    | 'refused'
    | 'paused'
    | 'nothing_scheduled'
    | 'already_scheduled'
    | 'failed';
  readonly text: string;
}

export type ConfigOutcome =
  | { readonly kind: 'done'; readonly config: JsonObject }
  | { readonly kind: 'invalid' | 'failed'; readonly text: string };

export interface SwitchoverRequest {
  readonly leader: string;
  readonly candidate: string | undefined;
  /** ISO 8601 with an offset, in the future. */
  readonly scheduledAt: string | undefined;
}

/** The input of the liveness check: known without a query to PostgreSQL. */
export interface Pulse {
  /** Time since the last complete heartbeat. Milliseconds. */
  readonly heartbeatAgeMs: number;
  readonly role: MemberRole;
  readonly ttlMs: number;
  readonly isPaused: boolean;
  /** With PostgreSQL's report of the last heartbeat. */
  readonly member: MemberView;
}

export interface ManagerOperations {
  /** Synchronous, without SQL. */
  pulse(): Promise<Pulse>;
  /** Queries the member's PostgreSQL for this answer. While PostgreSQL hangs, this waits too. Never rejects. */
  look(): Promise<MemberView>;
  /** Reads the store. Undefined while the store does not answer. */
  readCluster(): Promise<ClusterView | undefined>;
  patchConfig(changes: JsonObject): Promise<ConfigOutcome>;
  putConfig(config: JsonObject): Promise<ConfigOutcome>;
  switchover(request: SwitchoverRequest): Promise<ManagerOutcome>;
  cancelSwitchover(): Promise<ManagerOutcome>;
  failover(candidate: string): Promise<ManagerOutcome>;
  restart(conditions: RestartGuards): Promise<ManagerOutcome>;
  scheduleRestart(conditions: RestartGuards, schedule: string): Promise<ManagerOutcome>;
  cancelRestart(): Promise<ManagerOutcome>;
  reload(): Promise<ManagerOutcome>;
  reinitialize(options: { readonly force: boolean; readonly fromLeader: boolean }): Promise<ManagerOutcome>;
}
