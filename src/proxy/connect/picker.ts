// Picks the member of the next session, with what a pick needs beside the table: the sessions that live where, who is a
// newcomer, and whose turn it is.
import { pickTarget } from '../../core/balance.ts';
import type { Credits } from '../../core/balance.ts';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { RoutingTable, Target } from '../../core/routing-table.ts';
import { SlowStart } from './slow-start.ts';
import type { SessionRegistry } from '../session-registry.ts';

export interface PickerInputs {
  readonly registry: SessionRegistry;
  readonly clock: Clock;
  readonly random: () => number;
}

export class Picker {
  readonly #inputs: PickerInputs;
  readonly #newcomers: SlowStart;
  readonly #credits = new Map<PoolName, Credits>();

  constructor(inputs: PickerInputs) {
    this.#inputs = inputs;
    this.#newcomers = new SlowStart(inputs.clock);
  }

  tableChanged(table: RoutingTable): void {
    this.#newcomers.tableChanged(table);
  }

  ramping(pool: PoolPolicy): ReadonlyMap<MemberName, number> {
    return this.#newcomers.ramping(pool);
  }

  /** `clientAddress`: without the port. */
  pick(pool: PoolPolicy, targets: readonly [Target, ...Target[]], clientAddress: string): Target {
    const { registry, random } = this.#inputs;
    const { target, credits } = pickTarget(pool.balance, targets, {
      sessionsOn: (member) => registry.sessionsOn(pool.name, member),
      weightOf: (one) => (one.weight ?? 1) * this.#newcomers.share(pool, one),
      random,
      credits: this.#credits.get(pool.name) ?? new Map(),
      // The same client by a listener of both families.
      clientAddress: clientAddress.replace(/^::ffff:/i, ''),
    });
    this.#credits.set(pool.name, credits);
    return target;
  }
}
