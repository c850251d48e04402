// Keeps the routing table: one table for one policy and one snapshot. Decides again when either of them changes, and
// when `validUntil` passes, so that evidence also runs out while no probe reports anything. Hands the actions for live
// sessions over synchronously with each decision. Never probes a member, changes no snapshot.
import { AsyncLocalStorage } from 'node:async_hooks';
import { planActions, type Action } from '../core/actions.ts';
import { decideRoutes, emptyTable } from '../core/decide-routes.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { withSnapshot, type WalEvidence, type WalSamples } from '../core/wal-samples.ts';
import { StallWatch } from './stall-watch.ts';

export interface DecisionFacts {
  readonly policy: RoutingPolicy;
  readonly snapshot: Snapshot;
}

export interface DeciderOptions {
  /** Read at each decision. */
  readonly known: () => DecisionFacts;
  readonly clock: Clock;
  /** Called synchronously with each decision, when table() returns the new table already. Must not throw. */
  readonly onTable: (actions: readonly Action[]) => void;
  /** Called after onTable, to log and count the change. */
  readonly onDecided?: (previous: RoutingTable, next: RoutingTable) => void;
  /**
   * This process stood still for longer than a probe interval, so its evidence may be as old as that. `limitMs`: how
   * long a probe may take. Must not throw. Absent: stalls are not watched.
   */
  readonly onStall?: ((noticedAt: Instant, limitMs: number) => void) | undefined;
}

export class Decider {
  readonly #options: DeciderOptions;
  #table: RoutingTable;
  #cancelValidity: () => void = () => {};
  #walSamples: WalSamples = new Map();
  #isDeciding = false;
  /** A decision was called for and has not begun. */
  #isDue = false;
  #isStopped = false;
  readonly #stalls: StallWatch | undefined;
  /** Its timers and promises belong to no caller: a fault in them must not end the session that called. */
  readonly #catchUp = AsyncLocalStorage.bind((now: Instant): void => {
    this.#stalls?.look(now);
    if (this.#isOverdue(now)) this.decide();
  });

  /** Nothing is routed before the first decide(). */
  constructor(options: DeciderOptions) {
    const { policy, snapshot } = options.known();
    this.#options = options;
    this.#table = emptyTable(policy, snapshot, options.clock.now());
    this.#stalls = watchOver(options);
    this.#stalls?.start();
  }

  /** As it was last decided. A pure read. */
  table(): RoutingTable {
    return this.#table;
  }

  /** The WAL positions of primaries, as far as they are kept. */
  wal(): WalEvidence {
    return { samples: this.#walSamples, ends: this.#options.known().snapshot.timelineEnds };
  }

  /**
   * Decides now if the table is no longer valid, which a stalled event loop may have kept the timer from doing. To be
   * called before clients' bytes are forwarded and before a backend is chosen (G2, G3). May end sessions, as each
   * decision may.
   */
  decideIfDue(): void {
    const now = this.#options.clock.now();
    // Usually there is nothing to do: these are all that a client's bytes cost.
    if (this.#isOverdue(now) || this.#stalls?.isNoticed(now) === true) this.#catchUp(now);
  }

  #isOverdue(now: Instant): boolean {
    return !this.#isDeciding && now >= this.#table.validUntil;
  }

  /**
   * To be called when the policy or the snapshot has changed. Synchronous, but for a call that a decision itself makes:
   * that one is decided right behind it.
   */
  decide(): void {
    this.#isDue = true;
    if (this.#isDeciding) return;
    while (this.#isDue) {
      this.#isDue = false;
      this.#decide();
    }
  }

  #decide(): void {
    if (this.#isStopped) return;
    const { known, clock, onTable, onDecided } = this.#options;
    const { policy, snapshot } = known();
    this.#walSamples = withSnapshot(this.#walSamples, snapshot);
    const now = clock.now();
    const previous = this.#table;
    const next = decideRoutes(policy, snapshot, now);
    this.#table = next;
    // The actions read the table. They must see this one, even if it runs out while they are carried out.
    this.#isDeciding = true;
    try {
      onTable(planActions(policy, previous, next));
      this.#cancelValidity();
      const { validUntil } = next;
      this.#cancelValidity =
        validUntil === Infinity ? () => {} : clock.schedule(Math.max(0, validUntil - now), () => this.decide());
      onDecided?.(previous, next);
    } finally {
      this.#isDeciding = false;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#stalls?.stop();
    this.#cancelValidity();
  }
}

function watchOver({ known, clock, onStall }: DeciderOptions): StallWatch | undefined {
  if (onStall === undefined) return undefined;
  return new StallWatch({
    clock,
    limitMs: () => known().policy.probe.intervalMs,
    onStall: (noticedAt) => onStall(noticedAt, known().policy.probe.timeoutMs),
  });
}
