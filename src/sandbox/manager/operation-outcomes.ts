// The operations of a manager and their outcomes. The API turns outcomes into status codes.
import type { ClusterView, JsonObject, MemberView, RestartGuards } from './view.ts';

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

export interface ReinitializeOptions {
  readonly force: boolean;
  readonly fromLeader: boolean;
}

export interface ManagerOperations {
  /** The view with PostgreSQL's report of the last heartbeat: without SQL. */
  pulse(): MemberView;
  /** Queries the member's PostgreSQL for this answer. While PostgreSQL hangs, this waits too. Never rejects. */
  look(): Promise<MemberView>;
  /** Reads the store. Undefined while the store does not answer. */
  readCluster(): ClusterView | undefined;
  patchConfig(changes: JsonObject): ConfigOutcome;
  putConfig(config: JsonObject): ConfigOutcome;
  switchover(request: SwitchoverRequest): Promise<ManagerOutcome>;
  cancelSwitchover(): ManagerOutcome;
  failover(candidate: string): Promise<ManagerOutcome>;
  restart(conditions: RestartGuards): Promise<ManagerOutcome>;
  scheduleRestart(conditions: RestartGuards, schedule: string): Promise<ManagerOutcome>;
  cancelRestart(): ManagerOutcome;
  reload(): Promise<ManagerOutcome>;
  reinitialize(options: ReinitializeOptions): Promise<ManagerOutcome>;
}
