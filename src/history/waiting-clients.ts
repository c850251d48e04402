// The clients that wait for a route, from the events of their holds. Each hold has its end, also that of a client whose
// worker dies (workers/live-sessions.ts). Pure.
import type { PoolName } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';
import { HOLD_OUTCOMES, type HoldOutcome, type ReportedEvent } from '../reports/events.ts';

export type HoldEvent = Extract<ReportedEvent, { kind: 'hold_started' | 'hold_ended' }>;

export function isHold(event: ReportedEvent): event is HoldEvent {
  return event.kind === 'hold_started' || event.kind === 'hold_ended';
}

/** Clients that wait, or have waited, together. */
export class WaitGroup {
  readonly #waiting = new Set<number>();
  readonly #ended: Record<HoldOutcome, number> = { released: 0, timeout: 0, gave_up: 0, refused: 0 };
  #longestMs = 0;

  /** The end of a wait counts if the group has its beginning. */
  take(event: HoldEvent): void {
    if (event.kind === 'hold_started') this.#waiting.add(event.session);
    else if (this.#waiting.delete(event.session)) {
      this.#ended[event.outcome] += 1;
      this.#longestMs = Math.max(this.#longestMs, event.waitedMs);
    }
  }

  now(): number {
    return this.#waiting.size;
  }

  /** Clients that wait, and that have waited. */
  count(): number {
    return this.now() + this.ended(...HOLD_OUTCOMES);
  }

  /** Waits that ended, of these outcomes. */
  ended(...outcomes: readonly HoldOutcome[]): number {
    return sumOf(outcomes, (outcome) => this.#ended[outcome]);
  }

  /** The longest wait that ended. Milliseconds. */
  longestMs(): number {
    return this.#longestMs;
  }
}

export class WaitingClients {
  readonly #groups = new Map<PoolName, WaitGroup>();

  /** The clients that wait, or have waited, with this one. */
  take(event: HoldEvent): WaitGroup {
    const known = this.of(event.pool);
    const group = known === undefined || (event.kind === 'hold_started' && known.now() === 0) ? new WaitGroup() : known;
    this.#groups.set(event.pool, group);
    group.take(event);
    return group;
  }

  /** The clients of the pool that wait, or have waited, since the last time nobody did. */
  of(pool: PoolName): WaitGroup | undefined {
    return this.#groups.get(pool);
  }
}
