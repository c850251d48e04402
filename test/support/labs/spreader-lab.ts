// The spreader of one pool with the members a, b and c, and sessions that are only numbers. Time is driven by hand.
import type { PoolPolicy } from '../../../src/model/policy.ts';
import { Picker } from '../../../src/proxy/connect/picker.ts';
import { Spreader, type SpreaderOptions } from '../../../src/proxy/moves/spreader.ts';
import { SessionRegistry } from '../../../src/proxy/session-registry.ts';
import type { Movable, MoveGoal, SessionHandle } from '../../../src/proxy/stage.ts';
import { aPool } from '../values/builders.ts';
import { aSessionHandle } from '../values/sessions.ts';
import { aTableOf, type PoolPicture } from '../values/tables.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

export const ADDRESSES = {
  a: { host: 'a', port: 5432 },
  b: { host: 'b', port: 5432 },
  c: { host: 'c', port: 5432 },
};
export type Name = keyof typeof ADDRESSES;

export class SpreaderLab {
  readonly clock = new ManualClock(100_000);
  readonly registry = new SessionRegistry();
  pool: PoolPolicy = aPool({ slowStartMs: 30_000, rebalance: { perSecond: 50 } });
  otherPools: readonly PoolPolicy[] = [];
  hasMoves = true;
  isShared = false;
  /** The instants of the moves of each session. */
  readonly moves = new Map<number, number[]>();
  asked = 0;
  /** Until a session is idle, and from there to the member. */
  busyMs = 0;
  moveMs = 20;
  answer: 'moves' | 'stays' | 'is busy' | 'fails' | 'says goodbye' | 'comes back' = 'moves';
  state: SessionHandle['state'] = 'relaying';
  /** Why the last session that was asked is to move. */
  cause: string | undefined;
  /** The way to the member, as the last session that was asked got it. */
  way: MoveGoal | undefined;
  seed = 7;
  readonly picker: Picker;
  spreader: Spreader;
  #table = aTableOf({});

  constructor() {
    this.registry.learn(['read']);
    const drains = { hurry() {}, isClearing: () => false };
    const { registry, clock } = this;
    this.picker = new Picker({ registry, drains, onEvent() {}, clock, random: () => this.random() });
    const processes = (): number => (this.isShared ? 2 : 1);
    const siblings = {
      get processes() {
        return processes();
      },
    };
    this.spreader = new Spreader({ ...this.options(), siblings });
  }

  options(): Omit<SpreaderOptions, 'siblings'> {
    return {
      clock: this.clock,
      table: () => this.#table,
      random: () => this.random(),
      registry: this.registry,
      pools: () => [...this.otherPools, this.pool],
      policy: () => (this.hasMoves ? {} : undefined),
      picker: this.picker,
    };
  }

  random(): number {
    this.seed = (this.seed * 16_807) % 2_147_483_647;
    return this.seed / 2_147_483_647;
  }

  decide(read: PoolPicture): void {
    this.#table = aTableOf({ read });
    this.picker.tableChanged(this.#table);
    this.spreader.review();
  }

  opens(...names: readonly Name[]): PoolPicture {
    return { open: Object.fromEntries(names.map((name) => [name, ADDRESSES[name]])) };
  }

  open(name: Name, count: number): void {
    for (let made = 0; made < count; made += 1) this.openOne(name);
  }

  openOne(first: Name, isMovable = true): void {
    const { registry, clock, state } = this;
    const id = registry.size() + 1;
    let at: Name | undefined = first;
    const assignment = () => at && { member: at, address: ADDRESSES[at], isFallback: false, isLagging: false };
    const go: Movable['requestWhenIdle'] = (why, _, onProgress, goal) => {
      this.asked += 1;
      [this.cause, this.way] = [why, goal];
      if (this.answer === 'is busy') return onProgress({ kind: 'stayed', reason: 'busy' });
      if (this.answer === 'stays') return onProgress({ kind: 'stayed', reason: 'listening' });
      if (this.answer === 'fails') return onProgress({ kind: 'failed', reason: 'move_restore', detail: undefined });
      if (this.answer === 'says goodbye')
        return onProgress({ kind: 'failed', reason: 'client_closed', detail: undefined });
      const suits = (this.answer === 'moves' ? goal?.next()?.suits : undefined) ?? (() => false);
      const to = (['a', 'b', 'c'] as const).find((member) => suits({ member, address: ADDRESSES[member] })) ?? first;
      clock.schedule(this.busyMs, () => {
        onProgress({ kind: 'parked' });
        registry.assign(session, undefined, assignment());
        at = undefined;
      });
      // While it logs in.
      clock.schedule(this.busyMs + this.moveMs / 2, () => {
        at = to;
        registry.assign(session, assignment());
      });
      clock.schedule(this.busyMs + this.moveMs, () => {
        this.moves.set(id, [...(this.moves.get(id) ?? []), clock.now()]);
        onProgress({ kind: 'moved', to });
      });
      return undefined;
    };
    const movable: Movable = {
      quietSince: () => 0,
      request() {},
      requestWhenIdle: go,
      abort() {},
      lose: () => false,
      ask() {},
      shown: () => ({ moved: 0 }),
    };
    const session = aSessionHandle({ id, pool: 'read', state, assignment, movable: isMovable ? movable : undefined });
    registry.add(session);
    registry.assign(session, assignment());
  }

  counts(): readonly number[] {
    return ['a', 'b', 'c'].map((member) => this.registry.sessionsOn('read', member));
  }

  /** The members a, b and c were open; c went away, its sessions went to the others, and it has just come back. */
  comesBack(sessions: number): void {
    this.decide(this.opens('a', 'b', 'c'));
    this.decide(this.opens('a', 'b'));
    this.open('a', sessions / 2);
    this.open('b', sessions / 2);
    this.decide(this.opens('a', 'b', 'c'));
  }
}
