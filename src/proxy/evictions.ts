// Carries out what the change of the table asks of live sessions. `close` acts in the same step; `drain` closes at its deadline
// unless the member has come back by then. Dials to a member that left are given up whatever the mode: nothing was forwarded.
import type { Action } from '../core/actions.ts';
import type { Clock } from '../core/instant.ts';
import { addressText, isSameAddress } from '../core/member.ts';
import type { PoolName } from '../core/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Registry } from './registry.ts';

export interface EvictionsInputs {
  readonly registry: Registry;
  readonly table: () => RoutingTable;
  readonly clock: Clock;
  readonly drainMs: (pool: PoolName) => number;
}

interface Drain {
  readonly action: Action;
  readonly cancel: () => void;
}

export class Evictions {
  readonly #inputs: EvictionsInputs;
  readonly #drains = new Map<string, Drain>();

  constructor(inputs: EvictionsInputs) {
    this.#inputs = inputs;
  }

  apply(actions: readonly Action[]): void {
    for (const action of actions) this.#perform(action);
    for (const [key, { action }] of this.#drains) {
      if (this.#hasReturned(action)) this.#forget(key);
    }
  }

  stop(): void {
    for (const key of this.#drains.keys()) this.#forget(key);
  }

  #perform(action: Action): void {
    const { registry } = this.#inputs;
    for (const session of registry.at(action.pool, action.member, action.address)) {
      if (action.mode === 'close') session.evict(action.cause);
      else session.giveUpDial();
    }
    const key = keyOf(action);
    if (action.mode !== 'keep') this.#forget(key);
    if (action.mode !== 'drain') return;
    const cancel = this.#inputs.clock.schedule(this.#inputs.drainMs(action.pool), () => {
      this.#forget(key);
      if (!this.#hasReturned(action)) this.#perform({ ...action, mode: 'close' });
    });
    this.#drains.set(key, { action, cancel });
  }

  #hasReturned({ pool, member, address }: Action): boolean {
    const decision = this.#inputs.table().pools.get(pool);
    const standing = decision?.standings.get(member);
    const isThere = isSameAddress(decision?.addresses.get(member), address);
    return isThere && standing !== undefined && standing.kind !== 'leave';
  }

  #forget(key: string): void {
    this.#drains.get(key)?.cancel();
    this.#drains.delete(key);
  }
}

function keyOf({ pool, member, address }: Action): string {
  return JSON.stringify([pool, member, addressText(address)]);
}
