// The route of each pool in this run: since when it has it, how long it had none, by cause, and its last interruption.
// Pure.
import type { HoldCause, Route } from '../core/routing-table.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';

export interface Moment {
  readonly at: Instant;
  /** Milliseconds since 1970, read at the event: it does not follow later changes of the clock. */
  readonly wallClock: number;
}

/** `closed`: clients are refused. Every other cause: they wait. */
export type NoRouteCause = HoldCause | 'closed';

/** A pool had no route. The first moment of a run, when nothing is known yet, is no interruption. */
export interface Interruption {
  readonly pool: PoolName;
  readonly from: Moment;
  /** Undefined: it lasts. */
  readonly to: Moment | undefined;
  /** The cause at the loss; others may follow. `none`: another member serves the pool, without a time in between. */
  readonly cause: NoRouteCause | 'none';
  /** The member of the route before, and after. Undefined: there was none. */
  readonly before: MemberName | undefined;
  readonly after: MemberName | undefined;
  /** The end of the interruption before this one. */
  readonly precedingEnd: Instant | undefined;
}

export interface RouteChange {
  readonly pool: PoolName;
  readonly from: Route | undefined;
  readonly to: Route;
}

type TimesByCause = Record<NoRouteCause, number>;

const NO_TIMES: Readonly<TimesByCause> = {
  starting: 0,
  no_member: 0,
  in_recovery: 0,
  two_primaries: 0,
  drained: 0,
  switchover: 0,
  restart: 0,
  closed: 0,
};

interface PoolRouteState {
  readonly times: Readonly<TimesByCause>;
  /** Undefined: the pool has a route, or a reload has removed it. */
  readonly cause: NoRouteCause | undefined;
  /** The decision that gave the pool the route that it has. */
  readonly since: Moment;
  readonly interruption: Interruption | undefined;
  /** The member of its last route. */
  readonly member: MemberName | undefined;
  /** The end of its last interruption, or its last direct change of the member. */
  readonly lastEnd: Instant | undefined;
}

export class RouteHistory {
  readonly #startedAt: Moment;
  readonly #pools = new Map<PoolName, PoolRouteState>();

  /** Until its first route a pool is `starting`. */
  constructor(startedAt: Moment) {
    this.#startedAt = startedAt;
  }

  /** Returns the interruption that ends with this change. */
  take({ pool, from, to }: RouteChange, moment: Moment): Interruption | undefined {
    // A pool of a reload is new later.
    const before = this.#pools.get(pool) ?? startingAt(from === undefined ? moment : this.#startedAt);
    const member = to.kind === 'open' ? to.targets[0].member : before.member;
    const ended = to.kind === 'open' ? endedBy(pool, before, moment, to.targets[0].member) : undefined;
    const cause = causeOf(to);
    this.#pools.set(pool, {
      times: timesUntil(before, moment.at),
      cause,
      since: moment,
      interruption:
        begunBy(pool, before, cause, moment) ?? (ended?.cause === 'none' ? undefined : ended) ?? before.interruption,
      member,
      lastEnd: ended?.to?.at ?? before.lastEnd,
    });
    return ended;
  }

  /** A reload has removed all other pools: they have no route to miss. */
  retain(pools: ReadonlySet<PoolName>, at: Moment): void {
    for (const [name, before] of this.#pools) {
      if (pools.has(name)) continue;
      const times = timesUntil(before, at.at);
      this.#pools.set(name, {
        times,
        cause: undefined,
        since: at,
        interruption: undefined,
        member: undefined,
        lastEnd: undefined,
      });
    }
  }

  /** Undefined: no decision has given the pool a route, or the reason why it has none. */
  since(pool: PoolName): Moment | undefined {
    return this.#pools.get(pool)?.since;
  }

  /** The newest one of the pool. Undefined: there was none. */
  interruption(pool: PoolName): Interruption | undefined {
    return this.#pools.get(pool)?.interruption;
  }

  /** Milliseconds without a route since the start, the running interval included. `pools`: those of the table. */
  timesWithoutRoute(pools: Iterable<PoolName>, now: Instant): ReadonlyMap<PoolName, Readonly<TimesByCause>> {
    const names = new Set([...pools, ...this.#pools.keys()]);
    const state = (name: PoolName): PoolRouteState => this.#pools.get(name) ?? startingAt(this.#startedAt);
    return new Map([...names].map((name) => [name, timesUntil(state(name), now)]));
  }
}

function startingAt(since: Moment): PoolRouteState {
  return { times: NO_TIMES, cause: 'starting', since, interruption: undefined, member: undefined, lastEnd: undefined };
}

function timesUntil({ times, cause, since }: PoolRouteState, now: Instant): Readonly<TimesByCause> {
  return cause === undefined ? times : { ...times, [cause]: times[cause] + Math.max(0, now - since.at) };
}

function isLasting(interruption: Interruption | undefined): interruption is Interruption {
  return interruption !== undefined && interruption.to === undefined;
}

function begunBy(
  pool: PoolName,
  { interruption, member: before, lastEnd }: PoolRouteState,
  cause: NoRouteCause | undefined,
  from: Moment,
): Interruption | undefined {
  if (cause === undefined || cause === 'starting' || isLasting(interruption)) return undefined;
  return { pool, from, to: undefined, cause, before, after: undefined, precedingEnd: lastEnd };
}

function endedBy(
  pool: PoolName,
  { interruption, member: before, lastEnd }: PoolRouteState,
  to: Moment,
  after: MemberName,
): Interruption | undefined {
  if (isLasting(interruption)) return { ...interruption, to, after };
  if (before === undefined || before === after) return undefined;
  return { pool, from: to, to, cause: 'none', before, after, precedingEnd: lastEnd };
}

function causeOf(route: Route): NoRouteCause | undefined {
  if (route.kind === 'open') return undefined;
  return route.kind === 'hold' ? route.cause : 'closed';
}
