// What etcd is to Patroni: one leader lock with a time to live, and what the members tell each other through it. Every change is
// atomic, an expired lease is gone for every reader at once, and while it is down every call says so and changes nothing.
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import type { ClusterView, HistoryEntry, JsonObject, PlannedSwitchover, PublishedMember } from './view.ts';

export interface StoreOptions {
  readonly scope: string;
  readonly config: JsonObject;
  readonly clock?: Clock;
}

/** The leader's names of its synchronous standbys. */
export interface SyncState {
  readonly synchronous: readonly string[];
  readonly quorum: readonly string[];
}

interface Lease<T> {
  readonly value: T;
  readonly ttlMs: number;
  readonly expiresAt: number;
}

export class Store {
  readonly scope: string;
  readonly #clock: Clock;
  #downSince: number | undefined;
  #lock: Lease<string> | undefined;
  #position: number | undefined;
  #config: JsonObject;
  #history: readonly HistoryEntry[] = [];
  #switchover: PlannedSwitchover | undefined;
  #sync: SyncState = { synchronous: [], quorum: [] };
  readonly #members = new Map<string, Lease<PublishedMember>>();
  readonly #watchers = new Set<() => void>();
  #cancelExpiry = (): void => {};

  constructor(options: StoreOptions) {
    this.scope = options.scope;
    this.#config = options.config;
    this.#clock = options.clock ?? systemClock;
  }

  /** Undefined while it is down. */
  read(): ClusterView | undefined {
    if (this.#isDown()) return undefined;
    this.#dropExpired();
    return {
      scope: this.scope,
      leader: this.#holder(),
      leaderPosition: this.#position,
      members: [...this.#members.values()]
        .map((lease) => lease.value)
        .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })),
      config: this.#config,
      history: this.#history,
      switchover: this.#switchover,
      ...this.#sync,
    };
  }

  /** Who holds the lock, outage or not: for who runs the store, no manager sees this. */
  holder(): string | undefined {
    return this.#holder();
  }

  /** Compare and set: only a lock that is free or has run out. */
  acquire(name: string, ttlMs: number): 'acquired' | 'held' | 'down' {
    if (this.#isDown()) return 'down';
    const holder = this.#holder();
    if (holder !== undefined) return holder === name ? 'acquired' : 'held';
    this.#hold(name, ttlMs);
    this.#tell();
    return 'acquired';
  }

  /** Only by the holder, and only in time. */
  refresh(name: string, ttlMs: number): 'refreshed' | 'lost' | 'down' {
    if (this.#isDown()) return 'down';
    if (this.#holder() !== name) return 'lost';
    this.#hold(name, ttlMs);
    return 'refreshed';
  }

  release(name: string): boolean {
    if (this.#isDown() || this.#holder() !== name) return false;
    this.#lock = undefined;
    this.#cancelExpiry();
    this.#tell();
    return true;
  }

  /** Gone after `ttlMs` without another word. */
  publish(member: PublishedMember, ttlMs: number): boolean {
    if (this.#isDown()) return false;
    this.#members.set(member.name, { value: member, ttlMs, expiresAt: this.#clock.now() + ttlMs });
    return true;
  }

  recordPosition(position: number): boolean {
    return this.#write(() => (this.#position = position), 'quietly');
  }

  writeHistory(history: readonly HistoryEntry[]): boolean {
    return this.#write(() => (this.#history = history), 'quietly');
  }

  writeConfig(config: JsonObject): boolean {
    return this.#write(() => (this.#config = config));
  }

  writeSwitchover(switchover: PlannedSwitchover | undefined): boolean {
    return this.#write(() => (this.#switchover = switchover));
  }

  writeSync(sync: SyncState): boolean {
    return this.#write(() => (this.#sync = sync));
  }

  /** Called when the lock, the configuration, a planned switchover or the synchronous standbys changed, and when an outage ends. */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Nothing runs out meanwhile, and every lease begins anew after it, as etcd's do when it has a leader again (etcd: lessor, Promote). */
  setOutage(isDown: boolean): void {
    if (this.#isDown() === isDown) return;
    this.#cancelExpiry();
    if (isDown) {
      this.#downSince = this.#clock.now();
      return;
    }
    this.#dropExpired();
    const lock = this.#holder() === undefined ? undefined : this.#lock;
    this.#downSince = undefined;
    for (const { value, ttlMs } of this.#members.values()) this.publish(value, ttlMs);
    if (lock !== undefined) this.#hold(lock.value, lock.ttlMs);
    this.#tell();
  }

  /** Forgets the one timer it may have. */
  close(): void {
    this.#cancelExpiry();
    this.#watchers.clear();
  }

  #isDown(): boolean {
    return this.#downSince !== undefined;
  }

  /** Stands still during an outage. */
  #now(): number {
    return this.#downSince ?? this.#clock.now();
  }

  #dropExpired(): void {
    for (const [name, lease] of this.#members) if (lease.expiresAt <= this.#now()) this.#members.delete(name);
  }

  #holder(): string | undefined {
    return this.#lock !== undefined && this.#lock.expiresAt > this.#now() ? this.#lock.value : undefined;
  }

  #hold(name: string, ttlMs: number): void {
    this.#lock = { value: name, ttlMs, expiresAt: this.#clock.now() + ttlMs };
    this.#cancelExpiry();
    // One millisecond later, because a timer may fire a fraction early.
    this.#cancelExpiry = this.#clock.schedule(ttlMs + 1, () => this.#tell());
  }

  #write(change: () => void, how: 'loudly' | 'quietly' = 'loudly'): boolean {
    if (this.#isDown()) return false;
    change();
    if (how === 'loudly') this.#tell();
    return true;
  }

  #tell(): void {
    if (this.#isDown()) return;
    for (const watcher of this.#watchers) watcher();
  }
}
