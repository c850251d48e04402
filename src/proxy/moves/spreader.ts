// Brings a member that came back its share of the open sessions (core/spread.ts): picks sessions by chance, and has
// them moved between two transactions, so many in a second. A move that ends its session is the last one to the member.
import { isOwed, isSettled, maySpread, planSpread, type Shift, type SpreadMember } from '../../core/spread.ts';
import { includesTarget, openRoute, type OpenRoute, type RoutingTable, type Target } from '../../core/routing-table.ts';
import { isMoveFailure } from '../../model/close-reason.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { nothing } from '../../model/once.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import { sharedClock } from '../fault.ts';
import type { Siblings } from '../siblings.ts';
import type { SessionRegistry } from '../session-registry.ts';
import type { Movable, MoveGoal, Progress, SessionHandle } from '../stage.ts';
import { TokenBucket } from '../token-bucket.ts';

export interface SpreaderOptions {
  readonly clock: Clock;
  readonly table: () => RoutingTable;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly registry: SessionRegistry;
  /** As they are now. */
  readonly pools: () => readonly PoolPolicy[];
  /** Undefined: no session moves. */
  readonly policy: () => unknown;
  /** Absent: no other process serves these ports. */
  readonly siblings?: Pick<Siblings, 'processes'>;
  readonly picker: Shares;
}

/** The choice for new sessions knows these. */
export interface Shares {
  weightOf(pool: PoolPolicy, target: Target): number;
  /** Since when the member takes sessions. -Infinity: since the pool's first decision. */
  openedAt(pool: PoolName, member: MemberName): Instant;
}

/** How often it looks, while a member has less than its share. Milliseconds. */
const TICK_MS = 500;
/** How long a busy session is waited for. Milliseconds. */
const BUSY_MS = 2_000;
/** A session that was busy all the time is left alone for so long, and a member that is behind. Milliseconds. */
const PAUSE_MS = 30_000;
/** Attempts that lead to the member, 250 ms apart. Later ones lead to any. */
const ATTEMPTS = 8;

/** The moves to one member of a pool since it opened. */
interface SpreadRound {
  readonly openedAt: Instant;
  /** It has had its share, or a session was lost on the way to it. */
  isOver: boolean;
  /** A session has reached it. */
  isProven: boolean;
  /** A session found it behind, and went elsewhere: no other one leaves for it until then. */
  restsUntil: Instant;
}

interface PoolMoves {
  readonly rounds: Map<MemberName, SpreadRound>;
  readonly underway: Map<SessionHandle, Shift>;
  /** Made by the rate of the pool at that time. */
  bucket: { readonly perSecond: number; readonly tokens: TokenBucket } | undefined;
}

export class Spreader {
  readonly #options: SpreaderOptions;
  readonly #clock: Clock;
  readonly #pools = new Map<PoolName, PoolMoves>();
  /** When a session may be asked at the earliest, and the last move of it. */
  readonly #askedAt = new WeakMap<SessionHandle, Instant>();
  readonly #movedAt = new WeakMap<SessionHandle, Instant>();
  #cancel: (() => void) | undefined;

  constructor(options: SpreaderOptions) {
    this.#options = options;
    this.#clock = sharedClock(options.clock);
  }

  /** To be called with each table. */
  review(): void {
    if (this.#cancel !== undefined || this.#options.policy() === undefined) return;
    if (this.#options.pools().some((pool) => this.#owedIn(pool) !== undefined)) this.#later();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = nothing;
  }

  #later(): void {
    this.#cancel = this.#clock.schedule(TICK_MS, () => {
      this.#cancel = undefined;
      this.#tick();
      this.review();
    });
  }

  #tick(): void {
    if (this.#options.policy() === undefined) return;
    for (const pool of this.#options.pools()) {
      const route = this.#owedIn(pool);
      if (route !== undefined) this.#spread(pool, route);
    }
  }

  /** Undefined: no member of the pool is owed sessions. */
  #owedIn(pool: PoolPolicy): OpenRoute | undefined {
    if (pool.rebalance === undefined || pool.exclusive) return undefined;
    const route = openRoute(this.#options.table(), pool.name);
    if (route === undefined || route.fallback !== undefined || route.lagging !== undefined) return undefined;
    return route.targets.length > 1 && route.targets.some((target) => this.#isOwed(pool, target)) ? route : undefined;
  }

  #isOwed(pool: PoolPolicy, { member }: Target): boolean {
    const openedAt = this.#options.picker.openedAt(pool.name, member);
    const round = this.#pools.get(pool.name)?.rounds.get(member);
    const givenFor = round?.isOver === true ? round.openedAt : undefined;
    return isOwed({ openedAt, givenFor }, pool.slowStartMs, this.#clock.now());
  }

  #isDue(pool: PoolPolicy, target: Target): boolean {
    const openedAt = this.#options.picker.openedAt(pool.name, target.member);
    return isSettled({ openedAt }, this.#clock.now()) && this.#isOwed(pool, target);
  }

  #spread(pool: PoolPolicy, route: OpenRoute): void {
    const { name, rebalance, slowStartMs } = pool;
    if (rebalance === undefined) return;
    const { random, siblings, picker } = this.#options;
    const processes = siblings?.processes ?? 1;
    const now = this.#clock.now();
    const moves = this.#movesOf(name);
    const movable = new Map(route.targets.map((target) => [target.member, this.#mayLeave(name, target, now)]));
    const members = route.targets.map((target) =>
      this.#placeOf(pool, target, moves, movable.get(target.member)?.length ?? 0),
    );
    const shifts = planSpread(members, Math.ceil(rebalance.perSecond));
    for (const target of route.targets.filter((one) => this.#isDue(pool, one))) {
      const round = this.#roundOf(moves, target.member, picker.openedAt(name, target.member));
      const isServed = this.#isServed(members, target.member) && !hasUnderway(moves, target.member);
      round.isOver = now - round.openedAt >= slowStartMs && isServed;
    }
    const tokens = this.#tokensOf(moves, rebalance.perSecond / processes, now);
    for (const shift of shifts) {
      // Each process sees the sessions of all, and moves its part.
      if (random() >= 1 / processes) continue;
      const round = moves.rounds.get(shift.to);
      // The first one goes alone.
      if (
        round === undefined ||
        round.isOver ||
        now < round.restsUntil ||
        (!round.isProven && hasUnderway(moves, shift.to))
      )
        continue;
      const session = takeOne(movable.get(shift.from) ?? [], random);
      if (session?.movable === undefined) continue;
      if (tokens.take(now) > 0) return;
      this.#move(session, session.movable, shift, { moves, round, target: targetOf(route, shift.to) });
    }
  }

  /** It would get nothing even if every session could move. */
  #isServed(members: readonly SpreadMember[], member: MemberName): boolean {
    const all = members.map((one) => ({ ...one, mayLeave: one.sessions, isOwed: one.member === member }));
    return planSpread(all, 1).length === 0;
  }

  #move(
    session: SessionHandle,
    movable: Movable,
    shift: Shift,
    { moves, round, target }: { moves: PoolMoves; round: SpreadRound; target: Target | undefined },
  ): void {
    const now = this.#clock.now();
    moves.underway.set(session, shift);
    this.#askedAt.set(session, now);
    const onProgress = (progress: Progress): void => {
      if (progress.kind === 'parked') return;
      moves.underway.delete(session);
      if (progress.kind === 'moved') {
        this.#movedAt.set(session, this.#clock.now());
        if (progress.to === shift.to) round.isProven = true;
        else Object.assign(round, { isProven: false, restsUntil: this.#clock.now() + PAUSE_MS });
      } else if (progress.kind === 'stayed') {
        // One that is pinned is not asked again for long.
        if (progress.reason !== 'busy') this.#movedAt.set(session, now);
      } else if (isMoveFailure(progress.reason)) round.isOver = true;
    };
    if (target !== undefined) movable.requestWhenIdle('rebalance', BUSY_MS, onProgress, this.#goal(session, target));
  }

  #goal({ pool }: SessionHandle, to: Target): MoveGoal {
    let left = ATTEMPTS;
    const suits = ({ member }: { readonly member: MemberName }): boolean => member === to.member;
    return {
      next: () => {
        left -= 1;
        const targets = openRoute(this.#options.table(), pool)?.targets ?? [];
        return left >= 0 && includesTarget(targets, to) ? { via: undefined, suits } : undefined;
      },
    };
  }

  /** The sessions of this process on the member that may move now. The pause is longer than any wait for a busy one. */
  #mayLeave(pool: PoolName, { member, address }: Target, now: Instant): SessionHandle[] {
    const may = (session: SessionHandle): boolean =>
      session.state === 'relaying' &&
      session.movable !== undefined &&
      now - (this.#askedAt.get(session) ?? -Infinity) >= PAUSE_MS &&
      maySpread(this.#movedAt.get(session), now);
    return this.#options.registry.at(pool, member, address).filter(may);
  }

  #placeOf(pool: PoolPolicy, target: Target, { underway }: PoolMoves, mayLeave: number): SpreadMember {
    const { registry, picker } = this.#options;
    const { member, isFar, isSuspect } = target;
    let sessions = registry.sessionsOn(pool.name, member);
    for (const [session, { from, to }] of underway) {
      const at = session.assignment()?.member;
      if (at === from && from === member) sessions -= 1;
      if (to === member && (at === from || at === undefined)) sessions += 1;
    }
    const weight = picker.weightOf(pool, target);
    return { member, sessions, weight, isFar, isSuspect, isOwed: this.#isDue(pool, target), mayLeave };
  }

  #movesOf(pool: PoolName): PoolMoves {
    const known = this.#pools.get(pool) ?? { rounds: new Map(), underway: new Map(), bucket: undefined };
    this.#pools.set(pool, known);
    return known;
  }

  #roundOf({ rounds }: PoolMoves, member: MemberName, openedAt: Instant): SpreadRound {
    const known = rounds.get(member);
    const round =
      known?.openedAt === openedAt ? known : { openedAt, isOver: false, isProven: false, restsUntil: -Infinity };
    rounds.set(member, round);
    return round;
  }

  #tokensOf(moves: PoolMoves, perSecond: number, now: Instant): TokenBucket {
    const known = moves.bucket?.perSecond === perSecond ? moves.bucket : undefined;
    moves.bucket = known ?? { perSecond, tokens: new TokenBucket(perSecond, now, (perSecond * TICK_MS) / 1000) };
    return moves.bucket.tokens;
  }
}

function hasUnderway({ underway }: PoolMoves, member: MemberName): boolean {
  return underway.values().some(({ to }) => to === member);
}

function targetOf({ targets }: OpenRoute, member: MemberName): Target | undefined {
  return targets.find((target) => target.member === member);
}

/** Takes one of them out, by chance: the member that came back gets busy sessions as well as idle ones. */
function takeOne(sessions: SessionHandle[], random: () => number): SessionHandle | undefined {
  return sessions.splice(Math.floor(random() * sessions.length), 1)[0];
}
