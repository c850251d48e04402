// Since when each pool has its route, since when the primary is the primary, and the last time without a route for
// writes. In memory, and of this run only.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import { openPrimary, primaryPools } from '../core/primary-pools.ts';
import type { PoliciesAndTable } from '../core/primary-pools.ts';
import type { Route } from '../core/routing-table.ts';

/** Of a decision. */
export interface Moment {
  readonly at: Instant;
  /** Milliseconds since 1970, read at the decision: it does not follow later changes of the clock. */
  readonly wallClock: number;
}

/** A pool for writes had no route. */
export interface Interruption {
  readonly pool: PoolName;
  readonly from: Moment;
  /** Undefined: it lasts. */
  readonly to: Moment | undefined;
  /** The member of the route before, and after. */
  readonly before: MemberName | undefined;
  readonly after: MemberName | undefined;
}

export interface PrimarySince {
  readonly member: MemberName;
  readonly since: Moment;
}

export interface RouteChange {
  readonly pool: PoolName;
  readonly from: Route | undefined;
  readonly to: Route;
}

export class RouteHistory {
  readonly #since = new Map<PoolName, Moment>();
  /** The last one. */
  #primary: PrimarySince | undefined;
  #hasPrimary = false;
  #interruption: Interruption | undefined;

  /** `known`: with the change. `now`: the decision is older by the difference to the instant of its table. */
  take({ pool, from, to }: RouteChange, known: PoliciesAndTable, now: Moment): void {
    const at = known.table.decidedAt;
    const moment = { at, wallClock: now.wallClock - (now.at - at) };
    this.#since.set(pool, moment);
    const primary = openPrimary(known);
    this.#hasPrimary = primary !== undefined;
    // The same member after a loss of its route has been the primary all the time.
    if (primary !== undefined && primary !== this.#primary?.member) this.#primary = { member: primary, since: moment };
    if (!primaryPools(known.policy).some(({ name }) => name === pool)) return;
    const lasting = this.#interruption?.pool === pool && this.#interruption.to === undefined;
    if (to.kind === 'open') {
      if (lasting && this.#interruption !== undefined)
        this.#interruption = { ...this.#interruption, to: moment, after: to.targets[0].member };
    } else if (from?.kind === 'open') {
      this.#interruption = { pool, from: moment, to: undefined, before: from.targets[0].member, after: undefined };
    }
  }

  /** The decision that gave the pool the route that it has. Undefined: there was none yet. */
  since(pool: PoolName): Moment | undefined {
    return this.#since.get(pool);
  }

  /** Undefined: no member serves every pool for writes now. */
  primary(): PrimarySince | undefined {
    return this.#hasPrimary ? this.#primary : undefined;
  }

  /** The newest one. Undefined: there was none since the start. */
  lastInterruption(): Interruption | undefined {
    return this.#interruption;
  }
}
