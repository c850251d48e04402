// Clients that wait for a route: one line per pool, first come first served, bounded in number and time, let go at a rate so
// that a new primary is not stampeded. Who fails to connect comes back and waits out a short pause. Newcomers to an open route
// do not queue behind the line: a steady stream of them would otherwise keep it from ever emptying.
import type { HoldOutcome, ProxyEvent, Smell } from '../../reports/events.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { isSameAddress } from '../../model/member.ts';
import type { HoldPolicy, PoolName } from '../../model/policy.ts';
import type { HoldCause, Route, RoutingTable } from '../../core/routing-table.ts';
import { TokenBucket } from '../token-bucket.ts';

/** What the line needs of a client. Each call makes it leave the line in the same step. */
export interface Waiting {
  readonly id: number;
  readonly pool: PoolName;
  /** The route is open: go. */
  release(): void;
  /** Waited long enough. */
  expire(): void;
  /** The route is definitely closed. */
  turnAway(): void;
}

export interface HoldRequest {
  readonly cause: HoldCause;
  /** When this client first began to wait, over all its holds. */
  readonly since: Instant;
  /** Not released before, unless the route changes. Milliseconds from now. */
  readonly pauseMs: number;
}

export type HoldAnswer =
  /** `leave` must be called once, when the client leaves the line for whatever reason. */
  | { readonly kind: 'held'; readonly leave: () => void }
  | { readonly kind: 'refused'; readonly reason: 'hold_full' | 'hold_timeout' | 'no_route'; readonly detail: string };

export interface HoldingInputs {
  readonly policy: () => HoldPolicy;
  readonly table: () => RoutingTable;
  readonly clock: Clock;
  readonly onEvent: (event: ProxyEvent) => void;
  readonly onSmell: (smell: Smell) => void;
  /** Clients that wait at other processes, under the same bound. */
  readonly heldElsewhere?: () => number;
}

interface Entry {
  readonly waiting: Waiting;
  readonly enteredAt: Instant;
  notBefore: Instant;
  outcome: HoldOutcome;
}

interface Line {
  readonly pool: PoolName;
  readonly entries: Set<Entry>;
  bucket: TokenBucket;
  /** When the pool lost its route; undefined while it has one. */
  lostAt: Instant | undefined;
  lastRoute: Route | undefined;
  /** When the pump runs next; Infinity while nothing is due. */
  pumpAt: Instant;
  cancelPump: () => void;
  cancelSmell: () => void;
}

/** How often waiting clients are smelled. */
const SMELL_EVERY_MS = 1_000;

export class Holding {
  readonly #inputs: HoldingInputs;
  readonly #lines = new Map<PoolName, Line>();
  #held = 0;

  constructor(inputs: HoldingInputs) {
    this.#inputs = inputs;
  }

  /** The policy may be another one, too. The next table says how new pools stand; of pools that are no more it says nothing. */
  learn(pools: readonly PoolName[]): void {
    const { clock, policy } = this.#inputs;
    const newBucket = (): TokenBucket => new TokenBucket(policy().releasePerSecond, clock.now());
    for (const line of this.#lines.values()) line.bucket = newBucket();
    for (const pool of pools) {
      if (!this.#lines.has(pool)) this.#lines.set(pool, newLine(pool, newBucket()));
    }
  }

  enter(waiting: Waiting, { cause, since, pauseMs }: HoldRequest): HoldAnswer {
    const { clock, onEvent, heldElsewhere = () => 0 } = this.#inputs;
    const policy = this.#inputs.policy();
    const line = this.#line(waiting.pool);
    const now = clock.now();
    const lostForMs = line.lostAt === undefined ? 0 : now - line.lostAt;
    if (lostForMs >= policy.maxFailoverMs) {
      return { kind: 'refused', reason: 'no_route', detail: `no route for ${Math.round(lostForMs / 1000)} s` };
    }
    if (this.#held + heldElsewhere() >= policy.maxSessions) {
      return { kind: 'refused', reason: 'hold_full', detail: `${policy.maxSessions} clients wait already` };
    }
    const waitMs = Math.min(since + policy.maxWaitMs - now, policy.maxFailoverMs - lostForMs);
    if (waitMs <= 0) return { kind: 'refused', reason: 'hold_timeout', detail: 'no time left to wait' };

    const entry: Entry = { waiting, enteredAt: now, notBefore: now + pauseMs, outcome: 'gave_up' };
    const cancelDeadline = clock.schedule(waitMs, () => {
      entry.outcome = 'timeout';
      waiting.expire();
    });
    line.entries.add(entry);
    this.#held += 1;
    onEvent({ kind: 'hold_started', pool: line.pool, session: waiting.id, cause });
    this.#smell(line);
    if (line.lastRoute?.kind === 'open') this.#pumpIn(line, pauseMs);
    return {
      kind: 'held',
      leave: () => {
        cancelDeadline();
        this.#left(line, entry);
      },
    };
  }

  /** Reads the table: lets go, or turns away, whom it concerns. */
  tableChanged(): void {
    const { table, clock } = this.#inputs;
    const pools = table().pools;
    for (const line of this.#lines.values()) {
      const route = pools.get(line.pool)?.route;
      const isNews = route?.kind === 'open' && !isSameRoute(line.lastRoute, route);
      line.lastRoute = route;
      if (route?.kind === 'open') line.lostAt = undefined;
      else line.lostAt ??= clock.now();
      if (route === undefined || route.kind === 'closed') this.#turnAway(line);
      if (!isNews) continue;
      for (const entry of line.entries) entry.notBefore = -Infinity;
      this.#pump(line);
    }
  }

  stop(): void {
    for (const line of this.#lines.values()) {
      stopPump(line);
      line.cancelSmell();
    }
  }

  #pump(line: Line): void {
    stopPump(line);
    while (this.#inputs.table().pools.get(line.pool)?.route.kind === 'open') {
      const now = this.#inputs.clock.now();
      const next = firstDue(line, now);
      if (next === undefined) return;
      const waitMs = next.notBefore > now ? next.notBefore - now : line.bucket.take(now);
      if (waitMs > 0) return this.#pumpIn(line, waitMs);
      next.outcome = 'released';
      next.waiting.release();
    }
  }

  /** Only ever brings the next run forward: a client that comes back with a pause must not delay the others. */
  #pumpIn(line: Line, delayMs: number): void {
    const at = this.#inputs.clock.now() + delayMs;
    if (at >= line.pumpAt) return;
    stopPump(line);
    line.pumpAt = at;
    line.cancelPump = this.#inputs.clock.schedule(delayMs, () => this.#pump(line));
  }

  #turnAway(line: Line): void {
    for (const entry of line.entries) {
      entry.outcome = 'refused';
      entry.waiting.turnAway();
    }
  }

  #left(line: Line, entry: Entry): void {
    const { clock, onEvent } = this.#inputs;
    if (!line.entries.delete(entry)) return;
    this.#held -= 1;
    if (line.entries.size === 0) {
      stopPump(line);
      line.cancelSmell();
    }
    const waitedMs = clock.now() - entry.enteredAt;
    onEvent({ kind: 'hold_ended', pool: line.pool, session: entry.waiting.id, outcome: entry.outcome, waitedMs });
  }

  #smell(line: Line): void {
    const { clock, onSmell } = this.#inputs;
    line.cancelSmell();
    line.cancelSmell = clock.schedule(SMELL_EVERY_MS, () => this.#smell(line));
    onSmell({ kind: 'clients_held', pool: line.pool });
  }

  #line(pool: PoolName): Line {
    const line = this.#lines.get(pool);
    if (line === undefined) throw new Error(`unknown pool ${pool}`);
    return line;
  }
}

function newLine(pool: PoolName, bucket: TokenBucket): Line {
  return {
    pool,
    entries: new Set(),
    bucket,
    lostAt: undefined,
    lastRoute: undefined,
    pumpAt: Infinity,
    cancelPump: () => {},
    cancelSmell: () => {},
  };
}

function stopPump(line: Line): void {
  line.cancelPump();
  line.pumpAt = Infinity;
}

/** The first in line that may go now; else the one whose pause ends first. */
function firstDue(line: Line, now: Instant): Entry | undefined {
  let next: Entry | undefined;
  for (const entry of line.entries) {
    if (entry.notBefore <= now) return entry;
    if (next === undefined || entry.notBefore < next.notBefore) next = entry;
  }
  return next;
}

function isSameRoute(before: Route | undefined, after: Route & { kind: 'open' }): boolean {
  if (before?.kind !== 'open' || before.targets.length !== after.targets.length) return false;
  return before.targets.every((target, index) => {
    const other = after.targets[index];
    return target.member === other?.member && isSameAddress(target.address, other.address);
  });
}
