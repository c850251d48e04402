// The sandbox's replacement for etcd: one leader lock with a time to live, and the data that the members share through
// it. Every change is atomic, and an expired lease is gone for all readers at once. While the store is down every call
// reports that and changes nothing.
import type { Clock } from '../../model/instant.ts';
import { systemClock } from './clock.ts';
import type { ClusterView, TimelineHistoryEntry, JsonObject, SwitchoverRecord, PublishedMember } from './view.ts';

/** The synchronous standbys, as the leader names them. */
export type SyncState = Pick<ClusterView, 'synchronous' | 'quorum'>;

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
  #history: readonly TimelineHistoryEntry[] = [];
  #switchover: SwitchoverRecord | undefined;
  #sync: SyncState = { synchronous: [], quorum: [] };
  readonly #members = new Map<string, Lease<PublishedMember>>();
  readonly #watchers = new Set<() => void>();
  #cancelExpiry = (): void => {};

  constructor(scope: string, config: JsonObject, clock: Clock = systemClock) {
    this.scope = scope;
    this.#config = config;
    this.#clock = clock;
  }

  /** Undefined during an outage. */
  read(): ClusterView | undefined {
    if (this.#isDown()) return undefined;
    this.#dropExpired();
    return {
      scope: this.scope,
      leader: this.holder(),
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

  /** The holder of the lock, also during an outage. This is for the sandbox; no manager sees it. */
  holder(): string | undefined {
    return this.#lock !== undefined && this.#lock.expiresAt > this.#now() ? this.#lock.value : undefined;
  }

  /** Compare and set: succeeds only when the lock is free or has expired. */
  acquire(name: string, ttlMs: number): 'acquired' | 'held' | 'down' {
    if (this.#isDown()) return 'down';
    const holder = this.holder();
    if (holder !== undefined) return holder === name ? 'acquired' : 'held';
    this.#hold(name, ttlMs);
    this.#tell();
    return 'acquired';
  }

  /** Succeeds only for the holder, and only in time. */
  refresh(name: string, ttlMs: number): 'refreshed' | 'lost' | 'down' {
    if (this.#isDown()) return 'down';
    if (this.holder() !== name) return 'lost';
    this.#hold(name, ttlMs);
    return 'refreshed';
  }

  release(name: string): boolean {
    if (this.#isDown() || this.holder() !== name) return false;
    this.#lock = undefined;
    this.#cancelExpiry();
    this.#tell();
    return true;
  }

  /** Removed after `ttlMs` without a further call. */
  publish(member: PublishedMember, ttlMs: number): boolean {
    if (this.#isDown()) return false;
    this.#members.set(member.name, { value: member, ttlMs, expiresAt: this.#clock.now() + ttlMs });
    return true;
  }

  recordPosition(position: number): boolean {
    return this.#write(() => (this.#position = position), 'quietly');
  }

  writeHistory(history: readonly TimelineHistoryEntry[]): boolean {
    return this.#write(() => (this.#history = history), 'quietly');
  }

  writeConfig(config: JsonObject): boolean {
    return this.#write(() => (this.#config = config));
  }

  writeSwitchover(switchover: SwitchoverRecord | undefined): boolean {
    return this.#write(() => (this.#switchover = switchover));
  }

  writeSync(sync: SyncState): boolean {
    return this.#write(() => (this.#sync = sync));
  }

  /**
   * Called when the lock, the configuration, a planned switchover or the synchronous standbys changed, and when an
   * outage ends.
   */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /**
   * Nothing expires during an outage, and every lease begins anew after it, like etcd's when it has a leader again
   * (etcd: lessor, Promote).
   */
  setOutage(isDown: boolean): void {
    if (this.#isDown() === isDown) return;
    this.#cancelExpiry();
    if (isDown) {
      this.#downSince = this.#clock.now();
      return;
    }
    this.#dropExpired();
    const lock = this.holder() === undefined ? undefined : this.#lock;
    this.#downSince = undefined;
    for (const { value, ttlMs } of this.#members.values()) this.publish(value, ttlMs);
    if (lock !== undefined) this.#hold(lock.value, lock.ttlMs);
    this.#tell();
  }

  /** Clears the one timer that it may have. */
  close(): void {
    this.#cancelExpiry();
    this.#watchers.clear();
  }

  #isDown(): boolean {
    return this.#downSince !== undefined;
  }

  /** Does not advance during an outage. */
  #now(): number {
    return this.#downSince ?? this.#clock.now();
  }

  #dropExpired(): void {
    for (const [name, lease] of this.#members) if (lease.expiresAt <= this.#now()) this.#members.delete(name);
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
