// Since when a pool uses its fallback, or members that lag. The routing table says only that it does: a decision knows
// no history.
import type { Clock, Instant } from '../../model/instant.ts';
import type { PoolName } from '../../model/policy.ts';
import type { RoutingTable } from '../../core/routing-table.ts';

export class DegradedPools {
  readonly #clock: Clock;
  readonly #since = new Map<PoolName, Instant>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tableChanged({ pools }: RoutingTable): void {
    const now = this.#clock.now();
    for (const [pool, { route }] of pools) {
      const isDegraded = route.kind === 'open' && (route.fallback !== undefined || route.lagging !== undefined);
      if (!isDegraded) this.#since.delete(pool);
      else if (!this.#since.has(pool)) this.#since.set(pool, now);
    }
    for (const pool of this.#since.keys()) {
      if (!pools.has(pool)) this.#since.delete(pool);
    }
  }

  /** Undefined while the pool is not degraded. */
  since(pool: PoolName): Instant | undefined {
    return this.#since.get(pool);
  }
}
