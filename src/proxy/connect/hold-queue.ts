// The clients that wait for a route: one queue per pool, first come first served, limited in number and time. A queue
// releases its clients at a rate, so that a reconnect storm does not overload a new primary. A client whose connect
// failed comes back and waits for a short pause. Clients that arrive while a route is open do not queue behind the held
// ones: a steady stream of them would keep the queue from ever emptying.
import type { ProxyDependencies } from '../options.ts';
import type { HoldOutcome } from '../../reports/events.ts';
import type { Instant } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { HoldPolicy, PoolName } from '../../model/policy.ts';
import { hasSameTargets, type HoldCause, type Route } from '../../core/routing-table.ts';
import { asStepOf, sharedClock } from '../fault.ts';
import type { SessionHandle } from '../stage.ts';
import { TokenBucket } from '../token-bucket.ts';

/** Each call makes the client leave the queue synchronously. */
export interface HoldRequest {
  readonly session: SessionHandle;
  readonly cause: HoldCause;
  /** The start of this client's first hold. */
  readonly since: Instant;
  /** The client is not released earlier, unless the route changes. Milliseconds from now. */
  readonly pauseMs: number;
  /** The route is open. */
  readonly onReleased: () => void;
  /** The client has waited for as long as it may, or its route is closed. */
  readonly onGiveUp: (reason: 'hold_timeout' | 'no_route') => void;
}

export type HoldResult =
  /** `leave` must be called once, when the client leaves the queue, for any reason. */
  | { readonly kind: 'held'; readonly leave: () => void }
  | { readonly kind: 'refused'; readonly reason: 'hold_full' | 'hold_timeout' | 'no_route'; readonly detail: string };

export interface HoldQueueOptions extends Pick<
  ProxyDependencies,
  'table' | 'decideIfDue' | 'clock' | 'onEvent' | 'onTrigger'
> {
  readonly policy: () => HoldPolicy;
  /** The clients that wait at the other processes, under the same limit. */
  readonly heldElsewhere?: () => number;
}

interface HoldEntry extends HoldRequest {
  readonly enteredAt: Instant;
  notBefore: Instant;
  outcome: HoldOutcome;
}

interface PoolQueue {
  readonly pool: PoolName;
  readonly entries: Set<HoldEntry>;
  bucket: TokenBucket;
  /** When the pool lost its route; undefined while it has one. */
  lostAt: Instant | undefined;
  lastRoute: Route | undefined;
  /** When the pump runs next; Infinity while nothing is due. */
  pumpAt: Instant;
  /** When the next client may try a server that was in recovery. */
  trialAt: Instant;
  cancelPump: () => void;
  cancelTrigger: () => void;
}

/** Between two clients that try a server which was in recovery. Milliseconds. */
const TRIAL_MS = 250;
/** How often held clients trigger probes. Milliseconds. */
const TRIGGER_EVERY_MS = 1_000;

export class HoldQueue {
  readonly #options: HoldQueueOptions;
  readonly #queues = new Map<PoolName, PoolQueue>();
  #held = 0;

  constructor(options: HoldQueueOptions) {
    this.#options = { ...options, clock: sharedClock(options.clock) };
  }

  /**
   * The pools of a new configuration; the policy may have changed as well. The queues of removed pools stay for the
   * clients in them.
   */
  learn(pools: readonly PoolName[]): void {
    const { clock, policy } = this.#options;
    const newBucket = (): TokenBucket => new TokenBucket(policy().maxConnectsPerSecond, clock.now());
    for (const queue of this.#queues.values()) queue.bucket = newBucket();
    for (const pool of pools) {
      if (this.#queues.has(pool)) continue;
      this.#queues.set(pool, {
        pool,
        entries: new Set(),
        bucket: newBucket(),
        lostAt: undefined,
        trialAt: -Infinity,
        lastRoute: undefined,
        pumpAt: Infinity,
        cancelPump: nothing,
        cancelTrigger: nothing,
      });
    }
  }

  enter(request: HoldRequest): HoldResult {
    const { session, cause, since, pauseMs } = request;
    const { clock, onEvent, heldElsewhere = () => 0 } = this.#options;
    const policy = this.#options.policy();
    const queue = this.#queue(session.pool);
    const now = clock.now();
    const lostForMs = queue.lostAt === undefined ? 0 : now - queue.lostAt;
    if (lostForMs >= policy.outageTimeoutMs) {
      return {
        kind: 'refused',
        reason: 'no_route',
        detail: `no eligible member for ${Math.round(lostForMs / 1000)} s`,
      };
    }
    if (this.#held + heldElsewhere() >= policy.maxSessions) {
      return { kind: 'refused', reason: 'hold_full', detail: `${policy.maxSessions} clients are waiting already` };
    }
    const waitMs = Math.min(since + policy.clientTimeoutMs - now, policy.outageTimeoutMs - lostForMs);
    if (waitMs <= 0) return { kind: 'refused', reason: 'hold_timeout', detail: 'no time left to wait' };

    const entry: HoldEntry = { ...request, enteredAt: now, notBefore: now + pauseMs, outcome: 'gave_up' };
    const cancelDeadline = clock.schedule(waitMs, () => {
      entry.outcome = 'timeout';
      asStepOf(session, () => request.onGiveUp('hold_timeout'));
    });
    queue.entries.add(entry);
    this.#held += 1;
    onEvent({ kind: 'hold_started', pool: queue.pool, session: session.id, cause });
    this.#trigger(queue);
    if (queue.lastRoute?.kind === 'open') this.#pumpIn(queue, pauseMs);
    return {
      kind: 'held',
      leave: () => {
        cancelDeadline();
        this.#left(queue, entry);
      },
    };
  }

  /** Releases the clients of pools with a new open route; refuses those of closed pools. */
  tableChanged(): void {
    const { table, clock } = this.#options;
    const pools = table().pools;
    for (const queue of this.#queues.values()) {
      const route = pools.get(queue.pool)?.route;
      const isNewRoute = route?.kind === 'open' && !hasSameTargets(queue.lastRoute, route);
      queue.lastRoute = route;
      if (route?.kind === 'open') queue.lostAt = undefined;
      else queue.lostAt ??= clock.now();
      if (route === undefined || route.kind === 'closed') this.#refuseAll(queue);
      if (!isNewRoute) continue;
      for (const entry of queue.entries) entry.notBefore = -Infinity;
      this.#pump(queue);
    }
  }

  /** The start of the longest wait that is not over; undefined while nobody waits for the pool. */
  longestSince(pool: PoolName): Instant | undefined {
    const entries = this.#queues.get(pool)?.entries;
    if (entries === undefined || entries.size === 0) return undefined;
    return [...entries].reduce((first, { since }) => Math.min(first, since), Infinity);
  }

  stop(): void {
    for (const queue of this.#queues.values()) {
      stopPump(queue);
      queue.cancelTrigger();
    }
  }

  #pump(queue: PoolQueue): void {
    stopPump(queue);
    while (this.#isOpen(queue.pool)) {
      const now = this.#options.clock.now();
      const next = firstDue(queue, now);
      if (next === undefined) return;
      const isTrial = isTrialRoute(this.#options.table().pools.get(queue.pool)?.route);
      const dueAt = isTrial ? Math.max(next.notBefore, queue.trialAt) : next.notBefore;
      const waitMs = dueAt > now ? dueAt - now : queue.bucket.take(now);
      if (waitMs > 0) return this.#pumpIn(queue, waitMs);
      next.outcome = 'released';
      if (isTrial) queue.trialAt = now + TRIAL_MS;
      asStepOf(next.session, next.onReleased);
    }
  }

  #isOpen(pool: PoolName): boolean {
    this.#options.decideIfDue();
    return this.#options.table().pools.get(pool)?.route.kind === 'open';
  }

  /** Only ever brings the next run forward: a client that comes back with a pause must not delay the others. */
  #pumpIn(queue: PoolQueue, delayMs: number): void {
    const at = this.#options.clock.now() + delayMs;
    if (at >= queue.pumpAt) return;
    stopPump(queue);
    queue.pumpAt = at;
    queue.cancelPump = this.#options.clock.schedule(delayMs, () => this.#pump(queue));
  }

  #refuseAll(queue: PoolQueue): void {
    for (const entry of queue.entries) {
      entry.outcome = 'refused';
      asStepOf(entry.session, () => entry.onGiveUp('no_route'));
    }
  }

  #left(queue: PoolQueue, entry: HoldEntry): void {
    const { clock, onEvent } = this.#options;
    if (!queue.entries.delete(entry)) return;
    this.#held -= 1;
    if (queue.entries.size === 0) {
      stopPump(queue);
      queue.cancelTrigger();
    }
    const waitedMs = clock.now() - entry.enteredAt;
    onEvent({ kind: 'hold_ended', pool: queue.pool, session: entry.session.id, outcome: entry.outcome, waitedMs });
  }

  #trigger(queue: PoolQueue): void {
    const { clock, onTrigger } = this.#options;
    queue.cancelTrigger();
    queue.cancelTrigger = clock.schedule(TRIGGER_EVERY_MS, () => this.#trigger(queue));
    onTrigger({ kind: 'clients_held', pool: queue.pool });
  }

  #queue(pool: PoolName): PoolQueue {
    const queue = this.#queues.get(pool);
    if (queue === undefined) throw new Error(`unknown pool ${pool}`);
    return queue;
  }
}

/** New clients queue behind the one that tries. */
export function isTrialRoute(route: Route | undefined): boolean {
  return route?.kind === 'open' && route.targets[0].isTrial === true;
}

function stopPump(queue: PoolQueue): void {
  queue.cancelPump();
  queue.pumpAt = Infinity;
}

/** The first client whose pause is over; else the one whose pause ends first. */
function firstDue(queue: PoolQueue, now: Instant): HoldEntry | undefined {
  let next: HoldEntry | undefined;
  for (const entry of queue.entries) {
    if (entry.notBefore <= now) return entry;
    if (next === undefined || entry.notBefore < next.notBefore) next = entry;
  }
  return next;
}
