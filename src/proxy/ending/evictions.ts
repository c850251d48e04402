// Carries out what the change of the table asks of live sessions. `close` acts in the same step; `drain` ends each
// between two transactions, and at its deadline the rest, unless the member has come back by then; `drain_idle` has no
// deadline. Dials to a member that left are given up whatever the mode: nothing was forwarded.
import { isOver } from '../../core/actions.ts';
import type { Action } from '../../core/actions.ts';
import { evictionReason } from '../../model/close-reason.ts';
import { describeStanding } from '../../core/describe.ts';
import type { Clock } from '../../model/instant.ts';
import { addressText } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { RoutingTable } from '../../core/routing-table.ts';
import type { SessionRegistry, RegisteredSession } from '../session-registry.ts';
import type { WhenIdle } from './when-idle.ts';

export interface EvictionsInputs {
  readonly registry: SessionRegistry;
  readonly table: () => RoutingTable;
  readonly decideIfDue: () => void;
  readonly clock: Clock;
  readonly whenIdle: WhenIdle;
  readonly drainMs: (pool: PoolName) => number;
}

interface Drain {
  readonly action: Action;
  readonly cancel: () => void;
}

const nothing = (): void => {};

export class Evictions {
  readonly #inputs: EvictionsInputs;
  readonly #drains = new Map<string, Drain>();

  constructor(inputs: EvictionsInputs) {
    this.#inputs = inputs;
  }

  apply(actions: readonly Action[]): void {
    for (const action of actions) this.#perform(action);
    for (const [key, { action }] of this.#drains) {
      if (isOver(action, this.#inputs.table())) this.#forget(key);
    }
  }

  stop(): void {
    for (const key of this.#drains.keys()) this.#forget(key);
  }

  #perform(action: Action): void {
    const sessions = this.#inputs.registry.at(action.pool, action.member, action.address);
    for (const session of sessions) {
      if (action.mode === 'close') this.#end(session, action);
      else session.giveUpDial();
    }
    const key = keyOf(action);
    if (action.mode !== 'keep') this.#forget(key);
    if (action.mode === 'drain' || action.mode === 'drain_idle') this.#begin(key, action);
  }

  #begin(key: string, action: Action): void {
    if (action.afterMs === 0) return this.#drain(key, action);
    const { clock, table, decideIfDue } = this.#inputs;
    const cancel = clock.schedule(action.afterMs, () => {
      decideIfDue();
      // The decision may have brought another action for these sessions.
      if (this.#drains.get(key)?.action !== action) return;
      if (!isOver(action, table())) this.#drain(key, action);
      else this.#forget(key);
    });
    this.#drains.set(key, { action, cancel });
  }

  #drain(key: string, action: Action): void {
    const { registry, whenIdle, clock, drainMs, table, decideIfDue } = this.#inputs;
    const cancels = registry
      .at(action.pool, action.member, action.address)
      .map((session) => whenIdle.run(session, () => this.#end(session, action)));
    const deadline = (): void => {
      this.#forget(key);
      decideIfDue();
      if (!isOver(action, table())) this.#perform({ ...action, mode: 'close' });
    };
    const cancelDeadline = action.mode === 'drain_idle' ? nothing : clock.schedule(drainMs(action.pool), deadline);
    const cancel = (): void => {
      for (const run of [cancelDeadline, ...cancels]) run();
    };
    this.#drains.set(key, { action, cancel });
  }

  #end(session: RegisteredSession, { member, cause, why }: Action): void {
    const now = this.#inputs.clock.now();
    const isGone = cause === 'removed' && why.code === 'never_answered';
    const because = isGone ? 'is no longer there' : describeStanding({ kind: 'leave', cause, why }, now);
    session.end(evictionReason(cause), `${member}: ${because}`);
  }

  #forget(key: string): void {
    this.#drains.get(key)?.cancel();
    this.#drains.delete(key);
  }
}

function keyOf({ pool, member, address }: Action): string {
  return JSON.stringify([pool, member, addressText(address)]);
}
