// The policy that applies now, with the last policy of pools that a reload removed. Drains the sessions whose listener
// or pool a reload removed.
import { addressText, isSameAddress } from '../model/member.ts';
import type { PoolName, PoolPolicy } from '../model/policy.ts';
import type { BoundListener, Listeners } from './accept/listeners.ts';
import type { HoldQueue } from './connect/hold-queue.ts';
import type { Drain, Drains } from './ending/drains.ts';
import type { ProxyPolicy } from './options.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { SessionHandle } from './stage.ts';

export interface PolicyInForceOptions {
  readonly registry: SessionRegistry;
  readonly drains: Drains;
  readonly listeners: Listeners;
  readonly holdQueue: HoldQueue;
}

export class PolicyInForce {
  readonly #options: PolicyInForceOptions;
  /** With the pools that a reload removed, as they were last: their sessions may live on. */
  readonly #pools = new Map<PoolName, PoolPolicy>();
  #current: ProxyPolicy;

  /** `first` is in force once it is adopted. */
  constructor(first: ProxyPolicy, options: PolicyInForceOptions) {
    this.#options = options;
    this.#current = first;
  }

  current(): ProxyPolicy {
    return this.#current;
  }

  /** As it is now; as it was last if a reload removed it. */
  pool(name: PoolName): PoolPolicy | undefined {
    return this.#pools.get(name);
  }

  drainTimeoutMs(pool: PoolName): number {
    return this.#pools.get(pool)?.drainTimeoutMs ?? 0;
  }

  /** Returns the policy before. Throws if a listener names an unknown pool. */
  adopt(policy: ProxyPolicy): ProxyPolicy {
    const before = this.#current;
    const names = policy.pools.map(({ name }) => name);
    for (const { pool } of policy.listeners) {
      if (!names.includes(pool)) throw new Error(`a listener names the unknown pool "${pool}"`);
    }
    this.#current = policy;
    const { registry, holdQueue, drains } = this.#options;
    const reserved = policy.branches === undefined ? [] : [policy.branches.pool];
    for (const pool of [...policy.pools, ...reserved]) {
      this.#pools.set(pool.name, pool);
      registry.learn([pool.name]);
    }
    registry.countByEnds(policy.pools.some(({ causalReads }) => causalReads?.scope === 'proxy'));
    holdQueue.learn(names);
    drains.pace(policy.client.maxDisconnectsPerSecond);
    return before;
  }

  /** Drains the sessions of `listeners`, and those of the pools that are in `before` and no longer configured. */
  drainRemoved(before: ProxyPolicy, listeners: readonly BoundListener[]): void {
    for (const listener of listeners) this.#drainListener(listener);
    for (const pool of before.pools) {
      if (!this.#isConfigured(pool.name)) this.#drainPool(pool);
    }
  }

  #drainListener({ pool, address }: BoundListener): void {
    const { drains, listeners } = this.#options;
    const has = (session: SessionHandle): boolean => isSameAddress(session.listener, address);
    const isBack = (): boolean => listeners.isBound(address);
    drains.start(this.#drainOf(`listener ${addressText(address)}`, has, isBack, this.drainTimeoutMs(pool)));
  }

  /** No sessions of a removed exclusive pool may stay: no decision covers its members any more. */
  #drainPool({ name, exclusive, drainTimeoutMs }: PoolPolicy): void {
    const { drains } = this.#options;
    const has = (session: SessionHandle): boolean => session.pool === name;
    const drain = this.#drainOf(`pool ${name}`, has, () => this.#isConfigured(name), drainTimeoutMs);
    if (exclusive) drains.endNow(drain);
    else drains.start(drain);
  }

  /**
   * Relayed sessions end as if their member had been removed; clients that wait are refused. It is over when the
   * operator has brought `what` back. `what` names it to the client, and is the key of the drain.
   */
  #drainOf(what: string, has: (session: SessionHandle) => boolean, isOver: () => boolean, limitMs: number): Drain {
    const detail = `${what} is no longer configured`;
    return {
      key: what,
      sessions: () => this.#options.registry.all().filter(has),
      end: (session) => {
        // By now the session may have asked for another pool.
        if (has(session)) session.end(session.state === 'relaying' ? 'evicted_removed' : 'no_route', detail);
      },
      isOver,
      afterMs: 0,
      limitMs: () => limitMs,
    };
  }

  #isConfigured(name: PoolName): boolean {
    return this.#current.pools.some((pool) => pool.name === name);
  }
}
