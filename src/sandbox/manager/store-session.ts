// One manager's access to the store: the last state that it read, and whether it holds the lock. The lock counts from
// the moment before the request, on the manager's own clock. So a manager that was frozen knows by itself that it has
// lost the lock.
import type { Upstream } from '../postgres/server-types.ts';
import type { Clock } from '../../model/instant.ts';
import type { LockView } from './decide.ts';
import { readSettings } from './cluster-settings.ts';
import type { StoreLink } from './store-link.ts';
import { isDue } from './switchover-plan.ts';
import type { ClusterSettings, ClusterView } from './view.ts';

export class StoreSession {
  readonly #name: string;
  readonly #store: StoreLink;
  readonly #clock: Clock;
  #cluster: ClusterView | undefined;
  #settings = readSettings({});
  #lockUntil = Number.NEGATIVE_INFINITY;
  #contactAt: number;
  #seenAt = 0;
  #freeSince: number | undefined;
  #isFailsafeActive = false;

  constructor(name: string, store: StoreLink, clock: Clock) {
    this.#name = name;
    this.#store = store;
    this.#clock = clock;
    this.#contactAt = clock.now();
  }

  /** The last state that was read. */
  cluster(): ClusterView | undefined {
    return this.#cluster;
  }

  /** The leader's address when the store was last read. */
  leaderAddress(): Upstream | undefined {
    const { leader, members = [] } = this.#cluster ?? {};
    const member = members.find(({ name }) => name === leader);
    return member && { host: member.host, port: member.port };
  }

  settings(): ClusterSettings {
    return this.#settings;
  }

  hasLock(): boolean {
    return this.#lockUntil > this.#clock.now();
  }

  isFailsafeActive(): boolean {
    return this.#isFailsafeActive;
  }

  /** Epoch seconds of the last answer; 0 before the first. */
  seenAt(): number {
    return this.#seenAt;
  }

  /** Undefined when the store did not answer. */
  read(): ClusterView | undefined {
    const cluster = this.#store.read();
    if (cluster === undefined) return undefined;
    this.#cluster = cluster;
    this.#settings = readSettings(cluster.config);
    this.#contactAt = this.#clock.now();
    this.#seenAt = Math.floor(Date.now() / 1000);
    return cluster;
  }

  /**
   * Reads the store, and refreshes the lock when this member holds it. `vouch`: does every other member answer a leader
   * that has no store?
   */
  async heartbeat(vouch: () => Promise<boolean>): Promise<LockView> {
    const cluster = this.read();
    if (cluster === undefined) return this.#withoutStore(vouch);
    this.#isFailsafeActive = false;
    const { leader } = cluster;
    const now = this.#clock.now();
    if (leader === this.#name && this.#store.refresh(this.#name, this.#settings.ttlMs) === 'refreshed') {
      this.#lockUntil = now + this.#settings.ttlMs;
      this.#freeSince = undefined;
      return { kind: 'mine' };
    }
    this.#lockUntil = Number.NEGATIVE_INFINITY;
    if (leader === undefined || leader === this.#name) {
      this.#freeSince ??= now;
      return { kind: 'free', freeMs: now - this.#freeSince };
    }
    this.#freeSince = undefined;
    return { kind: 'held', by: leader, address: this.leaderAddress() };
  }

  /** Compare and set. It deletes a planned switchover that this fulfils or makes void. */
  acquire(): boolean {
    const { ttlMs } = this.#settings;
    const now = this.#clock.now();
    if (this.#store.acquire(this.#name, ttlMs) !== 'acquired') return false;
    this.#lockUntil = now + ttlMs;
    const switchover = this.#store.read()?.switchover;
    const isOver = switchover !== undefined && (switchover.from !== this.#name || isDue(switchover, new Date()));
    if (isOver) this.#store.writeSwitchover(undefined);
    this.read();
    return true;
  }

  /** It is no longer the leader, whatever the store contains. `release` frees the lock for the next member. */
  lose(how: 'release' | 'expire'): void {
    this.#lockUntil = Number.NEGATIVE_INFINITY;
    if (how === 'release') this.#store.release(this.#name);
  }

  async #withoutStore(vouch: () => Promise<boolean>): Promise<LockView> {
    const { isFailsafeMode, ttlMs } = this.#settings;
    const now = this.#clock.now();
    this.#isFailsafeActive = isFailsafeMode;
    const isVouched = isFailsafeMode && (await vouch());
    if (isVouched) this.#lockUntil = now + ttlMs;
    return { kind: 'unreachable', silentMs: this.#clock.now() - this.#contactAt, isVouched };
  }
}
