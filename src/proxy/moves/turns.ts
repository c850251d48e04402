// The turns of parked sessions to log in at their next servers. The turn goes to the role that has the fewest logins
// under way, so that no role keeps the others from moving; then to a session whose client waits; then the queues take
// turns. Limits how many logins are under way and how many begin in a second.
import { openRoute } from '../../core/routing-table.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MovesPolicy } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import type { PoolName } from '../../model/policy.ts';
import { sharedClock } from '../fault.ts';
import type { ProxyDependencies } from '../options.ts';
import type { SessionRegistry } from '../session-registry.ts';
import { TokenBucket } from '../token-bucket.ts';
import { MoveQueue } from './move-queue.ts';

/** A parked session, for the order in which they move. */
export interface Traveller {
  readonly pool: PoolName;
  /** Its login role. */
  readonly role: string;
  /** Its client has sent something since it was parked. */
  isWaiting(): boolean;
  /** Its turn has come. */
  travel(): void;
}

export interface TurnsOptions extends Pick<ProxyDependencies, 'clock' | 'table' | 'decideIfDue'> {
  /** As it is now. Undefined: no session is parked any more. */
  readonly policy: () => MovesPolicy | undefined;
  readonly registry: SessionRegistry;
}

/** After a reload without the section: sessions that are parked already still move. */
const NO_LONGER = { concurrent: 8, perSecond: 200 };

/** The queued sessions of one role in one pool. */
interface RoleQueue {
  readonly name: string;
  readonly pool: PoolName;
  readonly role: string;
  readonly queue: MoveQueue<Traveller>;
}

export class Turns {
  readonly #clock: Clock;
  readonly #options: TurnsOptions;
  /** By pool and role. None is empty. */
  readonly #queues = new Map<string, RoleQueue>();
  /** Their logins are under way. */
  readonly #moving = new Set<Traveller>();
  /** The first turn makes one of the rate that is in force. */
  #bucket = new TokenBucket(1, 0);
  #perSecond: number | undefined;
  #cancelPump = nothing;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#clock = sharedClock(options.clock);
  }

  /** It waits for its turn, which comes with `pump` at the earliest. `isRepeated`: an attempt of it has failed. */
  add(session: Traveller, isRepeated: boolean): void {
    const { pool, role } = session;
    const name = nameOf(session);
    const entry = this.#queues.get(name) ?? { name, pool, role, queue: new MoveQueue() };
    this.#queues.set(name, entry);
    entry.queue.add(session, isRepeated);
  }

  /** The client of a queued session has sent something. */
  waits(session: Traveller): void {
    this.#queues.get(nameOf(session))?.queue.waits(session);
  }

  /** It waits for no turn any more. */
  left(session: Traveller): void {
    const entry = this.#queues.get(nameOf(session));
    entry?.queue.remove(session);
    if (entry?.queue.isEmpty() === true) this.#queues.delete(entry.name);
  }

  /** Its login is over, whatever came of it. */
  over(session: Traveller): void {
    this.#moving.delete(session);
  }

  /** An attempt without a connection was no login: the next session may have its turn. */
  returnToken(): void {
    this.#bucket.returnToken();
  }

  stop(): void {
    this.#cancelPump();
  }

  /** Sessions travel, as far as routes and limits allow. */
  readonly pump = (): void => {
    this.#cancelPump();
    const now = this.#clock.now();
    const { concurrent, perSecond } = this.#options.policy() ?? NO_LONGER;
    if (perSecond !== this.#perSecond) this.#bucket = new TokenBucket((this.#perSecond = perSecond), now);
    for (;;) {
      const next = this.#next();
      if (next === undefined || this.#moving.size >= concurrent) return;
      const waitMs = this.#bucket.take(now);
      if (waitMs > 0) return this.#pumpAt(now + waitMs);
      const session = next.queue.take();
      if (session === undefined) return;
      // The queues take turns.
      this.#queues.delete(next.name);
      if (!next.queue.isEmpty()) this.#queues.set(next.name, next);
      this.#moving.add(session);
      session.travel();
    }
  };

  #next(): RoleQueue | undefined {
    const moving = new Map<string, number>();
    for (const { role } of this.#moving) moving.set(role, (moving.get(role) ?? 0) + 1);
    const routed = new Map<PoolName, boolean>();
    let next: RoleQueue | undefined;
    let least = Infinity;
    for (const entry of this.#queues.values()) {
      const { pool, role, queue } = entry;
      if (!routed.has(pool)) routed.set(pool, this.#isRouted(pool));
      const rank = 2 * (moving.get(role) ?? 0) + (queue.hasWaiting() ? 0 : 1);
      if (routed.get(pool) !== true || rank >= least) continue;
      next = entry;
      least = rank;
    }
    return next;
  }

  #pumpAt(at: Instant): void {
    this.#cancelPump();
    this.#cancelPump = this.#clock.schedule(Math.max(0, at - this.#clock.now()), this.pump);
  }

  #isRouted(pool: PoolName): boolean {
    const { decideIfDue, table, registry } = this.#options;
    decideIfDue();
    const route = openRoute(table(), pool);
    return route !== undefined && registry.limitReached(pool, route) === undefined;
  }
}

function nameOf({ pool, role }: Traveller): string {
  return `${pool}\0${role}`;
}
