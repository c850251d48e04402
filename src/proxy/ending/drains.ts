// Owns the endings that can wait. A drain ends its sessions one by one, each between two of its transactions, and the
// rest at its deadline, unless the sessions may stay by then. Evictions (`evict.ts`), and listeners and pools that a
// reload removed, are drains. They share one limit on endings per second with the shutdown of the process.
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { nothing } from '../../model/once.ts';
import { sharedClock } from '../fault.ts';
import type { SessionHandle } from '../stage.ts';
import { Parking, type ParkingOptions } from './parking.ts';
import { WhenIdle } from './when-idle.ts';

export interface Drain {
  /** A drain replaces the one that has the same key. */
  readonly key: string;
  /** Set for sessions that leave one member. */
  readonly member?: MemberName;
  /** The sessions that the drain concerns at this moment. */
  readonly sessions: () => readonly SessionHandle[];
  /** Called for a session that is idle, and at the deadline for every session. */
  readonly end: (session: SessionHandle) => void;
  /** True: the sessions may stay. */
  readonly isOver: () => boolean;
  /** The drain begins after this time, unless it is over by then. Milliseconds. */
  readonly afterMs: number;
  /**
   * Its idle sessions end well before the deadline, whatever the limit on endings per second: its clients wait until
   * the next primary is there, and do not connect to a server now.
   */
  readonly isPrompt?: boolean;
  /** Its sessions that may move are parked, in an order of their own. Absent: they are as all others. */
  readonly parking?: Pick<ParkingOptions, 'park' | 'onStays' | 'waitsForAll' | 'questions'> & {
    /** How long sessions with transactions are waited for. Milliseconds. */
    readonly waitMs: number;
  };
  /** From the beginning of the drain to its deadline, read at its beginning. Milliseconds; undefined: no deadline. */
  readonly limitMs: () => number | undefined;
}

interface RunningDrain {
  readonly drain: Drain;
  cancel: () => void;
  /** Set until it has begun. */
  begin: (() => void) | undefined;
}

/** A prompt drain ends its idle sessions in this part of its limit. */
const PROMPT_PART = 1 / 4;

export interface DrainsOptions {
  readonly clock: Clock;
  /** Brings the routing table up to date, which may start and end drains. */
  readonly decideIfDue: () => void;
  /** Sessions that may end in a second. */
  readonly perSecond: number;
}

export class Drains {
  readonly #clock: Clock;
  readonly #decideIfDue: () => void;
  readonly #whenIdle: WhenIdle;
  readonly #running = new Map<string, RunningDrain>();
  #perSecond: number;

  constructor({ clock: given, decideIfDue, perSecond }: DrainsOptions) {
    const clock = sharedClock(given);
    this.#clock = clock;
    this.#decideIfDue = decideIfDue;
    this.#perSecond = perSecond;
    this.#whenIdle = new WhenIdle(clock, perSecond);
  }

  /** Another limit from now on. */
  pace(perSecond: number): void {
    this.#perSecond = perSecond;
    this.#whenIdle.pace(perSecond);
  }

  start(drain: Drain): void {
    this.#cancel(drain.key);
    const running: RunningDrain = { drain, cancel: nothing, begin: undefined };
    this.#running.set(drain.key, running);
    if (drain.afterMs === 0) return this.#begin(running);
    const begin = (): void => {
      // A fault in the decision keeps no session.
      try {
        this.#decideIfDue();
      } finally {
        this.#beginLate(running);
      }
    };
    running.cancel = this.#clock.schedule(drain.afterMs, begin);
    running.begin = () => {
      running.cancel();
      begin();
    };
    return undefined;
  }

  /** The member has no free connection: the drains of its sessions begin now, if they have not begun. */
  hurry(member: MemberName): void {
    for (const { drain, begin } of this.#running.values()) if (drain.member === member) begin?.();
  }

  /** Sessions are leaving the member. */
  isClearing(member: MemberName): boolean {
    return [...this.#running.values()].some(({ drain }) => drain.member === member && drain.sessions().length > 0);
  }

  /** Ends the sessions synchronously, idle or not. */
  endNow({ key, sessions, end }: Drain): void {
    this.#cancel(key);
    for (const session of sessions()) end(session);
  }

  /** Ends one session when it is idle, without a deadline. Returns the cancel function, which is idempotent. */
  whenIdle(session: SessionHandle, end: () => void, mayEnd?: () => boolean): () => void {
    return this.#whenIdle.run(session, end, mayEnd);
  }

  /** Something changed on which `isOver` depends: forgets the drains that are over. */
  review(): void {
    for (const [key, { drain }] of this.#running) {
      if (drain.isOver()) this.#cancel(key);
    }
  }

  stop(): void {
    for (const key of this.#running.keys()) this.#cancel(key);
    this.#whenIdle.stop();
  }

  #beginLate(running: RunningDrain): void {
    const { drain } = running;
    // The decision may have brought another drain under this key.
    if (this.#running.get(drain.key) !== running) return;
    if (drain.isOver()) this.#cancel(drain.key);
    else this.#begin(running);
  }

  #begin(running: RunningDrain): void {
    const { drain } = running;
    running.begin = undefined;
    const limitMs = drain.limitMs();
    const sessions = drain.sessions();
    const whenIdle = drain.isPrompt === true ? this.#prompt(sessions.length, limitMs) : this.#whenIdle;
    const { parking } = drain;
    const movable = parking === undefined ? [] : sessions.filter(mayMove);
    const others = parking === undefined ? sessions : sessions.filter((session) => !mayMove(session));
    const cancels = others.map((session) => whenIdle.run(session, () => drain.end(session)));
    if (parking !== undefined && movable.length > 0) {
      const { park, onStays, waitsForAll, questions, waitMs } = parking;
      const batch = new Parking({
        clock: this.#clock,
        sessions: movable,
        park,
        onStays: (session) => cancels.push(whenIdle.run(session, () => onStays(session))),
        waitsForAll,
        others,
        limitMs: Math.min(limitMs ?? Infinity, waitMs),
        questions,
      });
      cancels.push(() => batch.stop());
      batch.start();
    }
    if (whenIdle !== this.#whenIdle) cancels.push(() => whenIdle.stop());
    if (limitMs !== undefined) cancels.push(this.#clock.schedule(limitMs, () => this.#deadline(drain)));
    running.cancel = () => {
      for (const cancel of cancels) cancel();
    };
  }

  #prompt(sessions: number, limitMs = 0): WhenIdle {
    const neededPerSecond = (sessions * 1_000) / Math.max(1, limitMs * PROMPT_PART);
    return new WhenIdle(this.#clock, Math.max(this.#perSecond, neededPerSecond));
  }

  #deadline(drain: Drain): void {
    this.#cancel(drain.key);
    try {
      this.#decideIfDue();
    } finally {
      if (!drain.isOver()) this.endNow(drain);
    }
  }

  #cancel(key: string): void {
    this.#running.get(key)?.cancel();
    this.#running.delete(key);
  }
}

function mayMove(session: SessionHandle): boolean {
  return session.state === 'relaying' && session.movable !== undefined;
}
