// What can be asked of a manager, and how it ends; the API turns ends into status codes.
import type { ClusterView, JsonObject, MemberRole, MemberView, RestartConditions } from './view.ts';

/**
 * How an operation ended, named after what the management API ("Errors") distinguishes: `done` 200, `accepted` 202, `invalid` 400,
 * `refused` 412, `failed` 503. `refused` has finer kinds because real Patroni gives them codes of their own. `text` is
 * the body: the reason.
 */
export interface OperationOutcome {
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
  /** As it was given (ISO 8601 with an offset), and the same as a date. In the future. */
  readonly scheduledAt: { readonly text: string; readonly date: Date } | undefined;
}

/** What the liveness check needs: known without asking PostgreSQL. */
export interface Pulse {
  /** Since the heartbeat loop last ran to its end. */
  readonly heartbeatAgeMs: number;
  readonly role: MemberRole;
  readonly ttlMs: number;
  readonly isPaused: boolean;
  /** With what PostgreSQL said at the last heartbeat. */
  readonly member: MemberView;
}

export interface Operations {
  /** At once, and no SQL. */
  pulse(): Promise<Pulse>;
  /** Asks the member's PostgreSQL for this answer; while that hangs, so does this. Never rejects. */
  look(): Promise<MemberView>;
  /** Reads the store. Undefined while the store does not answer. */
  readCluster(): Promise<ClusterView | undefined>;
  patchConfig(changes: JsonObject): Promise<ConfigOutcome>;
  putConfig(config: JsonObject): Promise<ConfigOutcome>;
  switchover(request: SwitchoverRequest): Promise<OperationOutcome>;
  cancelSwitchover(): Promise<OperationOutcome>;
  failover(request: { readonly candidate: string }): Promise<OperationOutcome>;
  restart(conditions: RestartConditions): Promise<OperationOutcome>;
  scheduleRestart(
    conditions: RestartConditions,
    schedule: { readonly text: string; readonly date: Date },
  ): Promise<OperationOutcome>;
  cancelRestart(): Promise<OperationOutcome>;
  reload(): Promise<OperationOutcome>;
  reinitialize(options: { readonly force: boolean; readonly fromLeader: boolean }): Promise<OperationOutcome>;
}
