// The turns of parked sessions to log in at their next servers: those whose clients wait first, then those that were
// parked last, because their clients were busy. Limits how many logins are under way and how many begin in a second.
import { openRoute } from '../../core/routing-table.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MovesPolicy } from '../../model/moves.ts';
import type { PoolName } from '../../model/policy.ts';
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

export class Turns {
  readonly #clock: Clock;
  readonly #inputs: TurnsInputs;
  /** The parked sessions. */
  readonly #queues = new Map<PoolName, MoveQueue<Traveller>>();
  readonly #moving = new Set<Traveller>();
  #bucket: TokenBucket;
  #perSecond: number;
  #cancelPump = nothing;

  constructor(inputs: TurnsInputs) {
    this.#inputs = inputs;
    this.#clock = inputs.clock;
    this.#perSecond = inputs.policy()?.perSecond ?? 1;
    this.#bucket = new TokenBucket(this.#perSecond, this.#clock.now());
  }

  /** Not before the pause is over. With a pause: its attempt has failed. */
  add(session: Traveller, pauseMs: number): void {
    this.#moving.delete(session);
    const queue = this.#queues.get(session.pool) ?? new MoveQueue<Traveller>();
    this.#queues.set(session.pool, queue);
    queue.add(session, this.#clock.now() + pauseMs, pauseMs > 0);
    this.pump();
  }

  /** The client of a parked session has sent something. */
  waits(session: Traveller): void {
    this.#queues.get(session.pool)?.waits(session);
  }

  /** It is no longer parked. */
  left(session: Traveller): void {
    this.#queues.get(session.pool)?.remove(session);
  }

  /** It has moved, or has ended. */
  over(session: Traveller): void {
    this.#moving.delete(session);
  }

  /** No session is parked or moving. */
  isIdle(): boolean {
    return this.#moving.size === 0 && [...this.#queues.values()].every((queue) => queue.isEmpty());
  }

  isMoving(session: Traveller): boolean {
    return this.#moving.has(session);
  }

  /** Undefined: it waits for no turn. */
  placeOf(session: Traveller): 'queued' | 'paused' | undefined {
    return this.#queues.get(session.pool)?.placeOf(session);
  }

  /** An attempt without a connection was no login: the next session may have its place. */
  giveBack(): void {
    this.#bucket.giveBack();
  }

  /** The routes are others: every pause is over. */
  hurry(): void {
    for (const queue of this.#queues.values()) queue.hurry();
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
      const ready = this.#readyPool(now);
      if (ready === undefined || this.#moving.size >= concurrent) break;
      const [pool, queue] = ready;
      const waitMs = this.#bucket.take(now);
      if (waitMs > 0) return this.#pumpAt(now + waitMs);
      const session = queue.take();
      if (session === undefined) break;
      // The pools take turns.
      this.#queues.delete(pool);
      this.#queues.set(pool, queue);
      this.#moving.add(session);
      session.travel();
    }
    const pauses = [...this.#queues.values()].map((queue) => queue.pausedUntil());
    return this.#pumpAt(pauses.reduce((first, until) => Math.min(first, until), Infinity));
  };

  /** Of all of them the pauses are looked at: one that is over must not be waited for again. */
  #readyPool(now: Instant): readonly [PoolName, MoveQueue<Traveller>] | undefined {
    const ready = [...this.#queues].filter(([, queue]) => queue.isReady(now));
    return ready.find(([pool]) => this.#isRouted(pool));
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
