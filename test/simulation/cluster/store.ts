// The configuration store of a cluster (etcd), as one value that is always right: the leader lock with its lease, and
// the keys of Patroni. Its times are true ones. It also keeps the truth about the lock: who held it, and from when to
// when.
import { ownJson } from '../postgres/own-json.ts';

export type Tags = Readonly<Record<string, string | number | boolean>>;

export interface MemberKey {
  readonly name: string;
  readonly apiUrl: string;
  readonly host: string;
  readonly port: number;
  readonly state: string;
  readonly role: string;
  readonly timeline: number | undefined;
  /** The end of its log: on a primary written, on a standby received. */
  readonly position: number | undefined;
  readonly replayed: number | undefined;
  readonly replicationState: string | undefined;
  readonly tags: Tags;
}

/** The order of an operator. Undefined fields: any member. */
export interface FailoverKey {
  readonly leader?: string;
  readonly candidate?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
}

export interface SyncKey {
  readonly leader: string;
  readonly standby: string | undefined;
}

/** A line of /history. */
export interface HistoryEntry {
  readonly timeline: number;
  readonly end: number;
  readonly at: number;
  readonly newLeader: string;
}

export interface StoreView {
  readonly leader: string | undefined;
  readonly members: readonly MemberKey[];
  readonly failover: FailoverKey | undefined;
  readonly sync: SyncKey | undefined;
  readonly config: ClusterConfig;
  readonly history: readonly HistoryEntry[];
  /** The position of the leader at its last loop. */
  readonly lastPosition: number;
  readonly systemIdentifier: string | undefined;
  /** Another one after each change of the leader or of the order. */
  readonly version: number;
}

/** The dynamic configuration. Durations in seconds. */
export interface ClusterConfig {
  readonly ttl: number;
  readonly loop_wait: number;
  readonly retry_timeout: number;
  readonly maximum_lag_on_failover: number;
  readonly synchronous_mode?: boolean;
  readonly synchronous_mode_strict?: boolean;
  readonly pause?: boolean;
}

/** The lock was held. `until`: when it was released, or its lease ended or will end. */
export interface Lease {
  readonly holder: string;
  readonly from: number;
  until: number;
  isReleased: boolean;
}

export class Store {
  readonly #now: () => number;
  readonly #leases: Lease[] = [];
  readonly #members = new Map<string, { readonly key: MemberKey; readonly until: number }>();
  /** Told of an order, before anybody acts on it. */
  onOrder: () => void = () => {};
  #failover: FailoverKey | undefined;
  #sync: SyncKey | undefined;
  #config: ClusterConfig;
  #history: readonly HistoryEntry[] = [];
  #lastPosition = 0;
  #systemIdentifier: string | undefined;
  #changes = 0;
  #leaderSeen: string | undefined;

  constructor(now: () => number, config: ClusterConfig) {
    this.#now = now;
    this.#config = config;
  }

  /** The truth, from the beginning. */
  leases(): readonly Lease[] {
    return this.#leases;
  }

  leader(): string | undefined {
    const lease = this.#leases.at(-1);
    return lease !== undefined && !lease.isReleased && this.#now() < lease.until ? lease.holder : undefined;
  }

  /** Until the lease of the leader ends, unless it is renewed. Undefined: there is no leader. */
  leaseMs(): number | undefined {
    const lease = this.#leases.at(-1);
    return this.leader() === undefined || lease === undefined ? undefined : lease.until - this.#now();
  }

  read(): StoreView {
    const now = this.#now();
    const leader = this.leader();
    this.#noticeLeader(leader);
    const present = [...this.#members.values()].filter(({ until }) => now < until);
    return {
      leader,
      members: present.map(({ key }) => key).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      failover: this.#failover,
      sync: this.#sync,
      config: this.#config,
      history: this.#history,
      lastPosition: this.#lastPosition,
      systemIdentifier: this.#systemIdentifier,
      version: this.#changes,
    };
  }

  touch(key: MemberKey, ttlMs: number): void {
    this.#members.set(key.name, { key, until: this.#now() + ttlMs });
  }

  /** False: another member has it. */
  acquire(name: string, ttlMs: number): boolean {
    if (this.leader() !== undefined) return this.leader() === name && this.renew(name, ttlMs);
    const now = this.#now();
    this.#leases.push({ holder: name, from: now, until: now + ttlMs, isReleased: false });
    this.#noticeLeader(name);
    return true;
  }

  renew(name: string, ttlMs: number, position?: number): boolean {
    const lease = this.#leases.at(-1);
    if (lease === undefined || this.leader() !== name) return false;
    lease.until = this.#now() + ttlMs;
    if (position !== undefined) this.#lastPosition = position;
    return true;
  }

  release(name: string, position?: number): boolean {
    const lease = this.#leases.at(-1);
    if (lease === undefined || this.leader() !== name) return false;
    lease.until = this.#now();
    lease.isReleased = true;
    if (position !== undefined) this.#lastPosition = position;
    this.#noticeLeader(undefined);
    return true;
  }

  order(failover: FailoverKey | undefined): void {
    this.#failover = failover;
    this.#changes += 1;
    if (failover !== undefined) this.onOrder();
  }

  /** Only the leader writes it. */
  synchronize(name: string, sync: SyncKey): boolean {
    if (this.leader() !== name) return false;
    this.#sync = sync;
    return true;
  }

  writeHistory(entries: readonly HistoryEntry[]): void {
    this.#history = entries;
  }

  /** A null removes a key. */
  patch(changes: Readonly<Record<string, unknown>>): ClusterConfig {
    const merged: Readonly<Record<string, unknown>> = { ...this.#config, ...changes };
    const kept = Object.entries(merged).filter(([, value]) => value !== null);
    this.#config = ownJson<ClusterConfig>(JSON.stringify(Object.fromEntries(kept)));
    this.#changes += 1;
    return this.#config;
  }

  /** False: the cluster has another one. */
  identify(systemIdentifier: string): boolean {
    this.#systemIdentifier ??= systemIdentifier;
    return this.#systemIdentifier === systemIdentifier;
  }

  /** An outside hand deletes the leader key: a store that was restored from an old copy, or an operator. */
  loseLock(): void {
    const holder = this.leader();
    if (holder !== undefined) this.release(holder);
  }

  version(): number {
    this.#noticeLeader(this.leader());
    return this.#changes;
  }

  #noticeLeader(leader: string | undefined): void {
    if (leader === this.#leaderSeen) return;
    this.#leaderSeen = leader;
    this.#changes += 1;
  }
}
