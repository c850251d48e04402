// The one account of routes, primaries and waiting clients in this run, for metrics, documents and summaries. Pure but
// for the clocks that it is given.
import { primaryPools } from '../core/primary-pools.ts';
import type { PoliciesAndTable } from '../core/primary-pools.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Instant } from '../model/instant.ts';
import type { ReportedEvent } from '../reports/events.ts';
import { PrimaryHistory } from './primary-history.ts';
import { RouteHistory } from './route-history.ts';
import type { Interruption, Moment } from './route-history.ts';
import { WaitingClients, isHold } from './waiting-clients.ts';

export interface ClusterHistoryOptions {
  /** Of the newest decision. */
  readonly known: () => PoliciesAndTable & { readonly snapshot: Snapshot };
  readonly now: () => Instant;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
}

export class ClusterHistory {
  readonly #options: ClusterHistoryOptions;
  readonly routes: RouteHistory;
  readonly primaries = new PrimaryHistory();
  readonly waiting = new WaitingClients();

  constructor(options: ClusterHistoryOptions) {
    this.#options = options;
    this.routes = new RouteHistory(this.#moment(options.now()));
  }

  /** To be called with each decision, before its events. */
  decided(): void {
    const known = this.#options.known();
    this.primaries.decided(known, known.snapshot, this.#moment(known.table.decidedAt));
  }

  /** `at`: when it happened, which may be before this call. */
  take(event: ReportedEvent, at: Instant): void {
    if (isHold(event)) this.waiting.take(event);
    else if (event.kind === 'route_changed') this.routes.take(event, this.#moment(at));
    else if (event.kind === 'config_reloaded') {
      const pools = new Set(this.#options.known().policy.pools.map(({ name }) => name));
      this.routes.retain(pools, this.#moment(at));
    }
  }

  /** The newest one of a pool for writes. Undefined: none has had a route and lost it. */
  lastInterruption(): Interruption | undefined {
    const all = primaryPools(this.#options.known().policy).flatMap(({ name }) => this.routes.interruption(name) ?? []);
    return all
      .filter(({ before }) => before !== undefined)
      .toSorted((a, b) => a.from.at - b.from.at)
      .at(-1);
  }

  #moment(at: Instant): Moment {
    const { now, wallClock } = this.#options;
    return { at, wallClock: wallClock() - (now() - at) };
  }
}
