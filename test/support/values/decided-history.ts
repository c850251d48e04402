// A history of decisions that a test makes, one after the other.
import { decideRoutes, emptyTable } from '../../../src/core/decide-routes.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import { observe } from '../../../src/core/observe.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { ClusterHistory } from '../../../src/history/cluster-history.ts';
import { Recording } from '../../../src/incidents/recording.ts';
import type { Instant } from '../../../src/model/instant.ts';
import type { ProbeObservation } from '../../../src/model/observation.ts';
import type { RoutingPolicy } from '../../../src/model/policy.ts';
import { changesBetween, evidenceChanges, probeEvent } from '../../../src/monitor/changes.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { aSnapshot } from './builders.ts';

const LIMITS = { decisions: 100, probes: 100, sessions: 1, traffic: 1, singleSessions: 1, keepsFirst: false };

export class DecidedHistory {
  readonly history: ClusterHistory;
  #policy: RoutingPolicy;
  #snapshot: Snapshot;
  #table: RoutingTable;
  #now: Instant = 0;
  readonly #recording = new Recording(LIMITS);
  #count = 0;

  /** The history learns of a decision `lateMs` after it. `epoch`: wall-clock time of the instant 0. */
  constructor(policy: RoutingPolicy, { epoch = 0, lateMs = 0 } = {}) {
    this.#policy = policy;
    this.#snapshot = aSnapshot(policy);
    this.#table = emptyTable(policy, this.#snapshot, 0);
    this.history = new ClusterHistory({
      known: () => ({ policy: this.#policy, table: this.#table, snapshot: this.#snapshot }),
      recorded: () => this.#recording.entries(),
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
    for (const change of changes) this.happened(change);
    return this;
  }

  /** An answer, with the decision that it leads to. */
  hear(answer: ProbeObservation): this {
    const snapshot = observe(this.#policy, this.#snapshot, answer);
    this.#now = Math.max(this.#now, answer.startedAt);
    for (const event of [probeEvent(answer, 1), ...evidenceChanges(this.#snapshot, snapshot, answer)])
      this.happened(event);
    return this.decide(snapshot, this.#now);
  }

  reload(policy: RoutingPolicy, at: Instant): this {
    this.#policy = policy;
    this.decide(this.#snapshot, at);
    this.happened({ kind: 'config_reloaded', changed: [], needsRestart: [] });
    return this;
  }

  happened(event: ReportedEvent): void {
    this.#count += 1;
    this.history.take(event, this.#now);
    this.#recording.take(event, this.#count, this.#now);
  }

  now(): Instant {
    return this.#now;
  }

  snapshot(): Snapshot {
    return this.#snapshot;
  }
}
