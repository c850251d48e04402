// A history of decisions that a test makes, one after the other.
import { decideRoutes, emptyTable } from '../../../src/core/decide-routes.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { ClusterHistory } from '../../../src/history/cluster-history.ts';
import type { Instant } from '../../../src/model/instant.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { changesBetween } from '../../../src/monitor/changes.ts';
import { aSnapshot } from './builders.ts';

export class DecidedHistory {
  readonly history: ClusterHistory;
  readonly #policy: RoutingPolicy;
  #snapshot: Snapshot;
  #table: RoutingTable;
  #now: Instant = 0;

  /** The history learns of a decision `lateMs` after it. `epoch`: wall-clock time of the instant 0. */
  constructor(policy: RoutingPolicy, { epoch = 0, lateMs = 0 } = {}) {
    this.#policy = policy;
    this.#snapshot = aSnapshot(policy);
    this.#table = emptyTable(policy, this.#snapshot, 0);
    this.history = new ClusterHistory({
      known: () => ({ policy, table: this.#table, snapshot: this.#snapshot }),
      now: () => this.#now + lateMs,
      wallClock: () => epoch + this.#now + lateMs,
    });
  }

  decide(snapshot: Snapshot, at: Instant): this {
    return this.take(snapshot, decideRoutes(this.#policy, snapshot, at));
  }

  take(snapshot: Snapshot, table: RoutingTable): this {
    const changes = changesBetween(this.#table, table);
    this.#snapshot = snapshot;
    this.#table = table;
    this.#now = table.decidedAt;
    this.history.decided();
    for (const change of changes) this.history.take(change, table.decidedAt);
    return this;
  }
}
