// Which sessions exist and where they live: counts by state, and an index by (pool, member) so that an eviction costs what it
// closes. The counts are the only truth about caps. Owns no socket.
import type { CloseReason } from '../model/close-reason.ts';
import type { PoolCounts } from '../reports/counts.ts';
import { isSameAddress } from '../model/member.ts';
import type { Address, MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { SessionState } from '../reports/session-state.ts';
import type { PoolTally, Tally } from '../reports/tally.ts';
import type { PartingReason } from './ending/close-message.ts';
import { NO_PEERS } from './peers.ts';
import type { Peers } from './peers.ts';
import type { Traffic } from './relay/directions.ts';
import type { Leaver } from './ending/when-idle.ts';

/** A session's seat at a member, taken when its dial begins. */
export interface Place {
  readonly member: MemberName;
  readonly address: Address;
  /** The pool lived on another pool's members when the session came. */
  readonly isFallback: boolean;
  /** Every member of the pool lagged when the session came. */
  readonly isLagging: boolean;
}

/** What the registry and those who evict need of a session. */
export interface Seated extends Leaver {
  /** Its listener's, until it asks for another. */
  readonly pool: PoolName;
  /** Where it was accepted. */
  readonly listener: Address;
  place(): Place | undefined;
  /** Ends a relaying session in this step, and tells its client where it can be told; one that is still dialing is routed again. */
  end(reason: PartingReason, detail?: string): void;
  /** Routes a session again that is still dialing; a relaying one stays. */
  giveUpDial(): void;
  /** The process stops: who waits for a route is told so; who has a backend stays. */
  stopWaiting(): void;
  /** Its listener or its pool is no more. */
  dismiss(detail: string): void;
  close(reason: CloseReason, detail?: string): void;
}

interface PoolBook {
  readonly states: Record<SessionState, number>;
  readonly seats: Map<MemberName, Set<Seated>>;
  readonly traffic: Traffic;
  fallbackSessions: number;
  laggingSessions: number;
  accepted: number;
}

export class Registry {
  readonly #books = new Map<PoolName, PoolBook>();
  readonly #sessions = new Set<Seated>();
  readonly #peers: Peers;
  #onEmpty: () => void = () => {};

  constructor(peers = NO_PEERS) {
    this.#peers = peers;
  }

  /** Books are kept of pools that are no more: their sessions may live on, and counts are since the start. */
  learn(pools: readonly PoolName[]): void {
    for (const pool of pools) {
      if (!this.#books.has(pool)) this.#books.set(pool, newBook());
    }
  }

  /** A new session, in state `startup`. */
  add(session: Seated): void {
    this.#sessions.add(session);
    const book = this.#book(session.pool);
    book.accepted += 1;
    book.states.startup += 1;
    this.#peers.onChange();
  }

  /** Only a session's transition method calls this. */
  moved(session: Seated, from: SessionState, to: SessionState): void {
    const { states } = this.#book(session.pool);
    states[from] -= 1;
    states[to] += 1;
    this.#peers.onChange();
    if (to !== 'closed' || from === 'closed') return;
    this.#sessions.delete(session);
    if (this.#sessions.size === 0) this.#onEmpty();
  }

  /** A session without a seat is about to belong to another pool; where it was accepted stays as it is. */
  transfer(session: Seated, state: SessionState, to: PoolName): void {
    this.#book(session.pool).states[state] -= 1;
    this.#book(to).states[state] += 1;
  }

  /** `before`: where the session sat until now. */
  sit(session: Seated, place: Place, before?: Place): void {
    if (before !== undefined) this.rise(session, before);
    const book = this.#book(session.pool);
    const seats = book.seats.get(place.member);
    if (seats === undefined) book.seats.set(place.member, new Set([session]));
    else seats.add(session);
    if (place.isFallback) book.fallbackSessions += 1;
    if (place.isLagging) book.laggingSessions += 1;
    this.#peers.onChange();
  }

  rise(session: Seated, place: Place): void {
    const book = this.#book(session.pool);
    const seats = book.seats.get(place.member);
    if (seats?.delete(session) !== true) return;
    if (seats.size === 0) book.seats.delete(place.member);
    if (place.isFallback) book.fallbackSessions -= 1;
    if (place.isLagging) book.laggingSessions -= 1;
  }

  /** Sessions of the pool on a member at that very address, as a copy: the caller may close them. */
  at(pool: PoolName, member: MemberName, address: Address): readonly Seated[] {
    const seats = this.#books.get(pool)?.seats.get(member) ?? [];
    return [...seats].filter((session) => isSameAddress(session.place()?.address, address));
  }

  /** Those of the other processes too. */
  sessionsOn(pool: PoolName, member: MemberName): number {
    return (this.#books.get(pool)?.seats.get(member)?.size ?? 0) + (this.#others(pool)?.members.get(member) ?? 0);
  }

  /** The places at which the pool has sessions, each once. */
  placesOf(pool: PoolName): readonly Place[] {
    const places: Place[] = [];
    for (const seats of this.#books.get(pool)?.seats.values() ?? []) {
      for (const session of seats) {
        const place = session.place();
        const isNew = place !== undefined && !places.some((known) => isSameAddress(known.address, place.address));
        if (isNew) places.push(place);
      }
    }
    return places;
  }

  /** Those that came by fallback, to the other processes too. */
  fallbackSessions(pool: PoolName): number {
    return this.#book(pool).fallbackSessions + (this.#others(pool)?.fallback ?? 0);
  }

  /** Those that came while every member lagged, likewise. */
  laggingSessions(pool: PoolName): number {
    return this.#book(pool).laggingSessions + (this.#others(pool)?.lagging ?? 0);
  }

  /** The counters that every relay of the pool increments. */
  traffic(pool: PoolName): Traffic {
    return this.#book(pool).traffic;
  }

  all(): readonly Seated[] {
    return [...this.#sessions];
  }

  size(): number {
    return this.#sessions.size;
  }

  /** Calls `run` whenever the last session has ended. */
  whenEmpty(run: () => void): void {
    this.#onEmpty = run;
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return new Map([...this.#books].map(([pool, book]) => [pool, countsOf(book)]));
  }

  /** Of this process. */
  tally(): Pick<Tally, 'held' | 'pools'> {
    const books = [...this.#books];
    return {
      held: books.reduce((sum, [, { states }]) => sum + states.holding, 0),
      pools: new Map(books.map(([pool, book]) => [pool, tallyOf(book)])),
    };
  }

  #others(pool: PoolName): PoolTally | undefined {
    return this.#peers.others().pools.get(pool);
  }

  #book(pool: PoolName): PoolBook {
    const book = this.#books.get(pool);
    if (book === undefined) throw new Error(`unknown pool ${pool}`);
    return book;
  }
}

function newBook(): PoolBook {
  return {
    states: { startup: 0, holding: 0, dialing: 0, relaying: 0, refusing: 0, closed: 0 },
    seats: new Map(),
    traffic: { toBackendBytes: 0, toClientBytes: 0 },
    fallbackSessions: 0,
    laggingSessions: 0,
    accepted: 0,
  };
}

function tallyOf({ seats, fallbackSessions, laggingSessions }: PoolBook): PoolTally {
  return { fallback: fallbackSessions, lagging: laggingSessions, members: sizesOf(seats) };
}

function sizesOf(seats: PoolBook['seats']): ReadonlyMap<MemberName, number> {
  return new Map([...seats].map(([member, sessions]) => [member, sessions.size]));
}

function countsOf({ states, seats, traffic, fallbackSessions, accepted }: PoolBook): PoolCounts {
  const { closed, ...live } = states;
  return { states: live, members: sizesOf(seats), fallbackSessions, accepted, closed, ...traffic };
}
