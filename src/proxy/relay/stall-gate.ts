// Holds back bytes of clients after this process stood still. Meanwhile another member may have become the primary,
// while the kernel kept bytes for the old one. In exclusive pools they wait until the members have been probed again.
import type { Instant } from '../../model/instant.ts';
import { whenSettled } from '../../model/once.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { ProxyDependencies } from '../options.ts';

/**
 * To be called before bytes of a client are forwarded. Calls `decideIfDue`, which may end the session. Undefined: the
 * bytes may go on. Else they wait until the promise resolves.
 */
export type ClientGate = () => Promise<void> | undefined;

type Dependencies = Pick<ProxyDependencies, 'decideIfDue' | 'freshen' | 'clock'>;

export class StallGate {
  readonly #deps: Dependencies;
  readonly #waits = new Map<PoolName, Promise<void>>();
  readonly #exclusive = new Map<PoolName, ClientGate>();
  readonly #shared: ClientGate;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#shared = () => {
      deps.decideIfDue();
      return undefined;
    };
  }

  /** All sessions of a pool share one gate. */
  gateFor({ name, exclusive }: PoolPolicy): ClientGate {
    if (!exclusive) return this.#shared;
    const known = this.#exclusive.get(name) ?? this.#exclusiveGate(name);
    this.#exclusive.set(name, known);
    return known;
  }

  /** From now on the bytes of clients of exclusive pools wait for fresh evidence, for at most `limitMs`. */
  stalled(pools: readonly PoolPolicy[], noticedAt: Instant, limitMs: number): void {
    const { clock, freshen } = this.#deps;
    for (const { name, exclusive } of pools) {
      const asked = exclusive ? freshen(name, noticedAt) : undefined;
      if (asked === undefined) continue;
      const { promise: wait, resolve } = Promise.withResolvers<void>();
      this.#waits.set(name, wait);
      whenSettled(asked, clock, limitMs, () => {
        if (this.#waits.get(name) === wait) this.#waits.delete(name);
        resolve();
      });
    }
  }

  #exclusiveGate(name: PoolName): ClientGate {
    return () => {
      this.#deps.decideIfDue();
      return this.#waits.size === 0 ? undefined : this.#waits.get(name);
    };
  }
}
