// From what is known to what follows: keeps one table for one policy and one snapshot, decides again when either changes and when
// `validUntil` passes, and hands over what that asks of live sessions in the same step. Whoever routes has one: evidence runs out
// where it is used, also while nobody brings new. Never asks a member and changes no snapshot.
import { planActions } from '../core/actions.ts';
import type { Action } from '../core/actions.ts';
import { decideRoutes, emptyTable } from '../core/decide-routes.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { StallWatch } from './stall-watch.ts';

export interface Known {
  readonly policy: RoutingPolicy;
  readonly snapshot: Snapshot;
}

export interface DeciderOptions {
  /** Read at each decision. */
  readonly known: () => Known;
  readonly clock: Clock;
  /** Called in the step of the decision, after table() returns the new table. Must not throw. */
  readonly onTable: (actions: readonly Action[]) => void;
  /** Called after that, for who tells about it. */
  readonly onDecided?: (previous: RoutingTable, next: RoutingTable) => void;
  /**
   * This process stood still for longer than a probe interval: what it knows may be as old as that. `limitMs`: how long
   * a probe may take. Must not throw. Absent: nobody asks.
   */
  readonly onStall?: ((noticedAt: Instant, limitMs: number) => void) | undefined;
}

export class Decider {
  readonly #options: DeciderOptions;
  #table: RoutingTable;
  #cancelValidity: () => void = () => {};
  #isDeciding = false;
  #isStopped = false;
  readonly #stalls: StallWatch | undefined;

  /** Nothing is routed before the first decide(). */
  constructor(options: DeciderOptions) {
    const { policy, snapshot } = options.known();
    this.#options = options;
    this.#table = emptyTable(policy, snapshot, options.clock.now());
    this.#stalls = watchOver(options);
    this.#stalls?.start();
  }

  /** As of now: what a stalled event loop kept the timer from judging is judged first. */
  table(): RoutingTable {
    const now = this.#options.clock.now();
    this.#stalls?.look(now);
    if (!this.#isDeciding && now >= this.#table.validUntil) this.decide();
    return this.#table;
  }

  /** As it was last decided. */
  lastTable(): RoutingTable {
    return this.#table;
  }

  /** To be called when the policy or the snapshot is another one. */
  decide(): void {
    if (this.#isStopped) return;
    const { known, clock, onTable, onDecided } = this.#options;
    const { policy, snapshot } = known();
    const now = clock.now();
    const previous = this.#table;
    const next = decideRoutes(policy, snapshot, now);
    this.#table = next;
    // Who acts reads the table: it is this one, however long the acting takes.
    this.#isDeciding = true;
    try {
      onTable(planActions(policy, previous, next));
    } finally {
      this.#isDeciding = false;
    }
    this.#cancelValidity();
    const { validUntil } = next;
    this.#cancelValidity =
      validUntil === Infinity ? () => {} : clock.schedule(Math.max(0, validUntil - now), () => this.decide());
    onDecided?.(previous, next);
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
