// How long each pool was without a route, by cause: from the decisions, so that it is exact between two scrapes too.
// Pure.
import type { HoldCause, Route, RoutingTable } from '../core/routing-table.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';

/** `closed`: clients are refused. Every other cause: they wait. */
export type NoRouteCause = HoldCause | 'closed';

const NONE: Readonly<Record<NoRouteCause, number>> = {
  starting: 0,
  no_member: 0,
  in_recovery: 0,
  two_primaries: 0,
  drained: 0,
  switchover: 0,
  restart: 0,
  closed: 0,
};

interface PoolTimes {
  /** Milliseconds. Without the interval that is running. */
  readonly ended: Record<NoRouteCause, number>;
  /** Undefined: the pool has a route. */
  cause: NoRouteCause | undefined;
  since: Instant;
}

export class NoRouteTimes {
  readonly #pools = new Map<PoolName, PoolTimes>();
  readonly #startedAt: Instant;

  /** Until the first decision no pool has a route. */
  constructor(startedAt: Instant) {
    this.#startedAt = startedAt;
  }

  /** To be called with each decision. */
  decided({ pools, decidedAt }: RoutingTable): void {
    // A pool of a reload is new later.
    const since = this.#pools.size === 0 ? this.#startedAt : decidedAt;
    for (const name of pools.keys()) {
      if (!this.#pools.has(name)) this.#pools.set(name, { ended: { ...NONE }, cause: 'starting', since });
    }
    for (const [name, times] of this.#pools) change(times, causeOf(pools.get(name)?.route), decidedAt);
  }

  /** Since the start, the running interval included. Milliseconds. */
  until(now: Instant): ReadonlyMap<PoolName, Readonly<Record<NoRouteCause, number>>> {
    return new Map([...this.#pools].map(([name, times]) => [name, timesUntil(times, now)]));
  }
}

function timesUntil({ ended, cause, since }: PoolTimes, now: Instant): Readonly<Record<NoRouteCause, number>> {
  return cause === undefined ? { ...ended } : { ...ended, [cause]: ended[cause] + Math.max(0, now - since) };
}

function change(times: PoolTimes, cause: NoRouteCause | undefined, at: Instant): void {
  if (times.cause === cause) return;
  if (times.cause !== undefined) times.ended[times.cause] += Math.max(0, at - times.since);
  times.cause = cause;
  times.since = at;
}

/** A pool that a reload removed has no route to miss. */
function causeOf(route: Route | undefined): NoRouteCause | undefined {
  if (route === undefined || route.kind === 'open') return undefined;
  return route.kind === 'hold' ? route.cause : 'closed';
}
