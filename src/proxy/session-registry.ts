// The sessions of this process: which ones exist, in which state they are, and on which member each one lives. The
// index by pool and member makes an eviction cost only what it closes. Limits on sessions are checked against these
// counts alone. Owns no socket.
import type { ForwardedBytes } from '../core/acknowledgements.ts';
import { BRANCHES_POOL } from '../model/branch.ts';
import type { PoolCounts, Traffic } from '../reports/counts.ts';
import type { Clock } from '../model/instant.ts';
import { isSameAddress, type Address, type MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { SessionState } from '../reports/session-state.ts';
import type { PoolTally, Tally } from '../reports/tally.ts';
import type { OpenRoute } from '../core/routing-table.ts';
import { LinkedList } from './linked-list.ts';
import { knownDatabase, PoolTraffic, type RelayEnds } from './pool-traffic.ts';
import { NO_SIBLINGS, type Siblings } from './siblings.ts';
import type { Assignment, SessionHandle } from './stage.ts';

interface PoolLedger {
  readonly states: Record<SessionState, number>;
  /** A member stays when its last session has left. */
  readonly byMember: Map<MemberName, LinkedList<SessionHandle>>;
  readonly traffic: PoolTraffic;
  fallbackSessions: number;
  laggingSessions: number;
  accepted: number;
  started: number;
}

/** Clients choose the names. */
const MOST_DATABASES = 1000;

export class SessionRegistry {
  readonly #pools = new Map<PoolName, PoolLedger>();
  readonly #sessions = new LinkedList<SessionHandle>();
  readonly #siblings: Siblings;
  readonly #onEmpty = new Set<() => void>();
  /** Relays that begin now count by server and database. */
  #countsByEnds = false;
  /** By database; until there is another counter. */
  readonly #forwarded = new Map<string | undefined, readonly ForwardedBytes[]>();

  constructor(siblings = NO_SIBLINGS) {
    this.#siblings = siblings;
  }

  /** Removed pools keep their counts: their sessions may live on, and counts are since the start. */
  learn(pools: readonly PoolName[]): void {
    for (const pool of pools) {
      if (!this.#pools.has(pool)) this.#pools.set(pool, noSessions());
    }
    this.#forwarded.clear();
  }

  /** A new session, in state `startup`. */
  add(session: SessionHandle): void {
    session.listing = { all: this.#sessions.add(session), onMember: undefined, isUnsettled: true };
    const sessions = this.#pool(session.pool);
    sessions.accepted += 1;
    sessions.states.startup += 1;
    this.#siblings.onChange();
  }

  /** Only a session's transition method calls this. */
  moved(session: SessionHandle, from: SessionState, to: SessionState): void {
    const { states } = this.#pool(session.pool);
    states[from] -= 1;
    states[to] += 1;
    if (to === 'relaying' || to === 'closed') this.settled(session);
    this.#siblings.onChange();
    if (to !== 'closed' || from === 'closed') return;
    if (session.listing !== undefined) this.#sessions.remove(session.listing.all);
    if (this.#sessions.size === 0) for (const run of this.#onEmpty) run();
  }

  /** A session without an assignment is about to join another pool. It still counts as accepted at its first pool. */
  transfer(session: SessionHandle, state: SessionState, to: PoolName): void {
    this.#pool(session.pool).states[state] -= 1;
    this.#pool(to).states[state] += 1;
  }

  /** The session's pool will not change any more. Called at least once for each session. */
  settled(session: SessionHandle): void {
    const { listing } = session;
    if (listing?.isUnsettled !== true) return;
    listing.isUnsettled = false;
    this.#pool(session.pool).started += 1;
  }

  /** Undefined: it counts on no member. `before`: its assignment until now. */
  assign(session: SessionHandle, assignment: Assignment | undefined, before?: Assignment): void {
    if (before !== undefined) this.#release(session, before);
    if (assignment === undefined) return;
    const sessions = this.#pool(session.pool);
    const { listing } = session;
    if (listing !== undefined) listing.onMember = listOf(sessions, assignment.member).add(session);
    if (assignment.isFallback) sessions.fallbackSessions += 1;
    if (assignment.isLagging) sessions.laggingSessions += 1;
    this.#siblings.onChange();
  }

  /** The pool's sessions on a member at that very address, as a copy: the caller may end them. */
  at(pool: PoolName, member: MemberName, address: Address): readonly SessionHandle[] {
    const byMember = this.#pools.get(pool)?.byMember.get(member) ?? [];
    return [...byMember].filter((session) => isSameAddress(session.assignment()?.address, address));
  }

  /** The other processes' sessions included. */
  sessionsOn(pool: PoolName, member: MemberName): number {
    return (this.#pools.get(pool)?.byMember.get(member)?.size ?? 0) + (this.#others(pool)?.members.get(member) ?? 0);
  }

  /** The assignments of the pool's sessions, one for each address. */
  assignmentsOf(pool: PoolName): readonly Assignment[] {
    const assignments: Assignment[] = [];
    for (const byMember of this.#pools.get(pool)?.byMember.values() ?? []) {
      for (const session of byMember) {
        const assignment = session.assignment();
        const isNew =
          assignment !== undefined && !assignments.some((known) => isSameAddress(known.address, assignment.address));
        if (isNew) assignments.push(assignment);
      }
    }
    return assignments;
  }

  /** The sessions that came by fallback, the other processes' included. */
  fallbackSessions(pool: PoolName): number {
    return this.#pool(pool).fallbackSessions + (this.#others(pool)?.fallback ?? 0);
  }

  /** The sessions that came while every member lagged, the other processes' included. */
  laggingSessions(pool: PoolName): number {
    return this.#pool(pool).laggingSessions + (this.#others(pool)?.lagging ?? 0);
  }

  /** Says why the pool may take no more sessions while it is degraded; undefined while it may. */
  limitReached(pool: PoolName, { fallback, lagging }: OpenRoute): string | undefined {
    if (fallback !== undefined && this.fallbackSessions(pool) >= fallback.maxSessions) {
      const where = `pool "${pool}" uses the members of pool "${fallback.pool}"`;
      return `${where}, where its limit is ${fallback.maxSessions} sessions`;
    }
    if (lagging !== undefined && this.laggingSessions(pool) >= lagging.maxSessions) {
      return `every member of pool "${pool}" lags, and meanwhile its limit is ${lagging.maxSessions} sessions`;
    }
    return undefined;
  }

  /** For relays that begin from now on. */
  countByEnds(isWanted: boolean): void {
    this.#countsByEnds = isWanted;
  }

  /** The byte counters for a relay of the pool. `ends`: undefined for a branch. */
  traffic(pool: PoolName, ends: RelayEnds | undefined): Traffic {
    const { traffic } = this.#pool(pool);
    return this.#countsByEnds && ends !== undefined ? traffic.of(ends, () => this.#forwarded.clear()) : traffic.all;
  }

  /** All bytes that clients of the database may have got, of every pool. Undefined: of any database. */
  forwarded(named: string | undefined): readonly ForwardedBytes[] {
    const database = knownDatabase(named);
    const known = this.#forwarded.get(database);
    if (known !== undefined) return known;
    const counters = [...this.#pools].flatMap(([name, { traffic }]) =>
      name === BRANCHES_POOL ? [] : traffic.counters(),
    );
    const isOfDatabase = (other: string | undefined): boolean =>
      database === undefined || other === undefined || other === database;
    if (this.#forwarded.size >= MOST_DATABASES) this.#forwarded.clear();
    const forwarded = counters.filter((counter) => isOfDatabase(counter.database));
    this.#forwarded.set(database, forwarded);
    return forwarded;
  }

  all(): readonly SessionHandle[] {
    return [...this.#sessions];
  }

  size(): number {
    return this.#sessions.size;
  }

  /** Resolves when no session is left, and after `limitMs` at the latest. */
  whenEmpty(clock: Clock, limitMs: number): Promise<void> {
    if (this.#sessions.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.#onEmpty.delete(end);
        resolve();
      };
      const cancel = clock.schedule(limitMs, end);
      this.#onEmpty.add(end);
    });
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return new Map([...this.#pools].map(([pool, sessions]) => [pool, countsOf(sessions)]));
  }

  /** The tally of this process. */
  tally(): Pick<Tally, 'held' | 'pools'> {
    const pools = [...this.#pools];
    return {
      // A client that waits for a branch takes no place in the hold queue.
      held: pools.reduce((sum, [pool, { states }]) => sum + (pool === BRANCHES_POOL ? 0 : states.holding), 0),
      pools: new Map(pools.map(([pool, sessions]) => [pool, tallyOf(sessions)])),
    };
  }

  #release(session: SessionHandle, assignment: Assignment): void {
    const sessions = this.#pool(session.pool);
    const link = session.listing?.onMember;
    if (link === undefined || !listOf(sessions, assignment.member).remove(link)) return;
    if (assignment.isFallback) sessions.fallbackSessions -= 1;
    if (assignment.isLagging) sessions.laggingSessions -= 1;
  }

  #others(pool: PoolName): PoolTally | undefined {
    return this.#siblings.others().pools.get(pool);
  }

  #pool(pool: PoolName): PoolLedger {
    const sessions = this.#pools.get(pool);
    if (sessions === undefined) throw new Error(`unknown pool ${pool}`);
    return sessions;
  }
}

function listOf({ byMember }: PoolLedger, member: MemberName): LinkedList<SessionHandle> {
  const known = byMember.get(member);
  if (known !== undefined) return known;
  const sessions = new LinkedList<SessionHandle>();
  byMember.set(member, sessions);
  return sessions;
}

function noSessions(): PoolLedger {
  return {
    states: { startup: 0, holding: 0, dialing: 0, relaying: 0, parked: 0, moving: 0, closing: 0, closed: 0 },
    byMember: new Map(),
    traffic: new PoolTraffic(),
    fallbackSessions: 0,
    laggingSessions: 0,
    accepted: 0,
    started: 0,
  };
}

function tallyOf({ byMember, fallbackSessions, laggingSessions }: PoolLedger): PoolTally {
  return { fallback: fallbackSessions, lagging: laggingSessions, members: sizesOf(byMember) };
}

function sizesOf(byMember: PoolLedger['byMember']): ReadonlyMap<MemberName, number> {
  return new Map([...byMember].flatMap(([member, { size }]) => (size === 0 ? [] : [[member, size]])));
}

function countsOf({ states, byMember, traffic, ...counts }: PoolLedger): PoolCounts {
  const { closed, parked, moving, ...others } = states;
  const live = { ...others, ...(parked === 0 ? {} : { parked }), ...(moving === 0 ? {} : { moving }) };
  const { fallbackSessions, laggingSessions, accepted, started } = counts;
  const members = sizesOf(byMember);
  return { states: live, members, fallbackSessions, laggingSessions, accepted, started, closed, ...traffic.sum() };
}
