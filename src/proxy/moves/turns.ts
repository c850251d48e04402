// The turns of parked sessions to log in at their next servers. The turn goes to the role that has the fewest logins
// under way, so that no role keeps the others from moving; then to a session whose client waits; then the queues take
// turns. Limits how many logins are under way and how many begin in a second.
import { hasSameTargets, openRoute } from '../../core/routing-table.ts';
import type { RoutingTable } from '../../core/routing-table.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MovesPolicy } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
import { sharedClock } from '../fault.ts';
import type { ProxyDependencies } from '../options.ts';
import type { SessionRegistry } from '../session-registry.ts';
import { TokenBucket } from '../token-bucket.ts';
import type { Traveller } from './movable.ts';
import { MoveQueue } from './move-queue.ts';

export interface TurnsInputs extends Pick<ProxyDependencies, 'clock' | 'table' | 'decideIfDue'> {
  /** As it is now. Undefined: no session is parked any more. */
  readonly policy: () => MovesPolicy | undefined;
  readonly registry: SessionRegistry;
}

/** After a reload without the section: sessions that are parked already still move. */
const NO_LONGER = { concurrent: 8, perSecond: 200 };

const nothing = (): void => {};

/** The parked sessions of one role in one pool. */
interface RoleQueue {
  readonly name: string;
  readonly pool: PoolName;
  readonly role: string;
  readonly queue: MoveQueue<Traveller>;
}

export class Turns {
  readonly #clock: Clock;
  readonly #inputs: TurnsInputs;
  /** By pool and role. None is empty. */
  readonly #queues = new Map<string, RoleQueue>();
  /** The latest one. */
  #table: RoutingTable;
  readonly #moving = new Set<Traveller>();
  #bucket: TokenBucket;
  #perSecond: number;
  #cancelPump = nothing;

  constructor(inputs: TurnsInputs) {
    this.#inputs = inputs;
    this.#clock = sharedClock(inputs.clock);
    this.#table = inputs.table();
    this.#perSecond = inputs.policy()?.perSecond ?? 1;
    this.#bucket = new TokenBucket(this.#perSecond, this.#clock.now());
  }

  /** Not before the pause is over. With a pause: its attempt has failed. */
  add(session: Traveller, pauseMs: number): void {
    const { pool, role } = session;
    this.#moving.delete(session);
    const name = nameOf(session);
    const { queue } = this.#queues.get(name) ?? this.#newQueue({ name, pool, role, queue: new MoveQueue() });
    queue.add(session, this.#clock.now() + pauseMs, pauseMs > 0);
    this.pump();
  }

  /** The client of a parked session has sent something. */
  waits(session: Traveller): void {
    this.#queueOf(session)?.queue.waits(session);
  }

  /** It is no longer parked. */
  left(session: Traveller): void {
    const entry = this.#queueOf(session);
    entry?.queue.remove(session);
    if (entry?.queue.isEmpty() === true) this.#queues.delete(entry.name);
  }

  /** It has moved, or has ended. */
  over(session: Traveller): void {
    this.#moving.delete(session);
  }

  /** No session is parked or moving. */
  isIdle(): boolean {
    return this.#moving.size === 0 && this.#queues.size === 0;
  }

  isMoving(session: Traveller): boolean {
    return this.#moving.has(session);
  }

  /** Undefined: it waits for no turn. */
  placeOf(session: Traveller): 'queued' | 'paused' | undefined {
    return this.#queueOf(session)?.queue.placeOf(session);
  }

  /** An attempt without a connection was no login: the next session may have its place. */
  giveBack(): void {
    this.#bucket.giveBack();
  }

  /** Ends the pauses of the sessions whose route is another one. Tables come with each answer to a probe. */
  tableChanged(): void {
    const before = this.#table;
    this.#table = this.#inputs.table();
    for (const { pool, queue } of this.#queues.values()) {
      const route = openRoute(this.#table, pool);
      if (route !== undefined && !hasSameTargets(before.pools.get(pool)?.route, route)) queue.hurry();
    }
    this.pump();
  }

  stop(): void {
    this.#cancelPump();
  }

  /** Sessions travel, as far as routes and limits allow. */
  readonly pump = (): void => {
    this.#cancelPump();
    if (this.#queues.size === 0) return;
    const now = this.#clock.now();
    const { concurrent, perSecond } = this.#inputs.policy() ?? NO_LONGER;
    if (perSecond !== this.#perSecond) this.#bucket = new TokenBucket((this.#perSecond = perSecond), now);
    for (;;) {
      const next = this.#next(now);
      if (next === undefined || this.#moving.size >= concurrent) break;
      const waitMs = this.#bucket.take(now);
      if (waitMs > 0) return this.#pumpAt(now + waitMs);
      const session = next.queue.take();
      if (session === undefined) break;
      // The queues take turns.
      this.#queues.delete(next.name);
      if (!next.queue.isEmpty()) this.#queues.set(next.name, next);
      this.#moving.add(session);
      session.travel();
    }
    return this.#pumpAt(this.#pausedUntil());
  };

  /** Of all of them the pauses are looked at: one that is over must not be waited for again. */
  #next(now: Instant): RoleQueue | undefined {
    const ready = [...this.#queues.values()].filter(({ queue }) => queue.isReady(now));
    const moving = new Map<string, number>();
    for (const { role } of this.#moving) moving.set(role, (moving.get(role) ?? 0) + 1);
    const routed = new Map<PoolName, boolean>();
    let next: RoleQueue | undefined;
    let least = Infinity;
    for (const entry of ready) {
      const { pool, role, queue } = entry;
      if (!routed.has(pool)) routed.set(pool, this.#isRouted(pool));
      const rank = 2 * (moving.get(role) ?? 0) + (queue.hasWaiting() ? 0 : 1);
      if (routed.get(pool) !== true || rank >= least) continue;
      next = entry;
      least = rank;
    }
    return next;
  }

  #pausedUntil(): Instant {
    let until = Infinity;
    for (const { queue } of this.#queues.values()) until = Math.min(until, queue.pausedUntil());
    return until;
  }

  #queueOf(session: Traveller): RoleQueue | undefined {
    return this.#queues.get(nameOf(session));
  }

  #newQueue(entry: RoleQueue): RoleQueue {
    this.#queues.set(entry.name, entry);
    return entry;
  }

  #pumpAt(at: Instant): void {
    this.#cancelPump();
    if (at !== Infinity) this.#cancelPump = this.#clock.schedule(Math.max(0, at - this.#clock.now()), this.pump);
  }

  #isRouted(pool: PoolName): boolean {
    const { decideIfDue, table, registry } = this.#inputs;
    decideIfDue();
    const route = openRoute(table(), pool);
    return route !== undefined && registry.limitReached(pool, route) === undefined;
  }
}

function nameOf({ pool, role }: Traveller): string {
  return `${pool}\0${role}`;
}
