// The order in which the sessions of a server that hands over are parked: those that have been idle longest first, and
// the busy ones last, because only their clients notice how long they are parked. A busy one goes on with its short
// transactions while a long one is open elsewhere: the server waits for that anyway, up to the limit. The server has
// other work, so it is asked for some sessions at a time.
import type { Clock, Instant } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { SessionHandle } from '../stage.ts';

/** `busy`: it had no pause after all. `stays`: it cannot move. `gone`: it is parked, or has ended. */
export type ParkAnswer = 'busy' | 'stays' | 'gone';

export interface ParkingOptions {
  readonly clock: Clock;
  /** They may move. */
  readonly sessions: readonly SessionHandle[];
  /** Called for an idle session. It calls `onAnswer` once. */
  readonly park: (session: SessionHandle, onAnswer: (answer: ParkAnswer) => void) => void;
  readonly onStays: (session: SessionHandle) => void;
  /** The server stops when all of its sessions have left it, rather than at a time of its own. */
  readonly waitsForAll: boolean;
  /** Sessions of the same server that do not move. */
  readonly others: readonly Pick<SessionHandle, 'state'>[];
  /** Transactions are waited for as long as this. Milliseconds. */
  readonly limitMs: number;
  /** At a time. */
  readonly questions: number;
}

/** A session is busy that had an answer of its server in this time. Milliseconds. */
const BUSY_MS = 1_000;
/** Busy sessions wait no longer than this for the last answers of idle ones. Milliseconds. */
const LAST_ANSWERS_MS = 250;
/** A longer transaction is waited for, and the pause after it is used: another one may follow. Milliseconds. */
const LONG_MS = 1_000;
/** Idle sessions have this part of the limit to themselves. */
const IDLE_PART = 1 / 2;
/** Before the limit, for the short transactions of busy sessions and their questions. Milliseconds. */
const LAST_TURN_MS = 2_000;
/** How often long transactions are looked for while the busy sessions wait for them. Milliseconds. */
const LOOK_MS = 100;

interface Busy {
  /** The start of its last pause. */
  idleAt: Instant;
  readonly stopListening: () => void;
}

export class Parking {
  readonly #options: ParkingOptions;
  /** The next one is the last. */
  readonly #idle: SessionHandle[];
  readonly #busy = new Map<SessionHandle, Busy>();
  readonly #others: Pick<SessionHandle, 'state'>[];
  /** Busy ones that have a pause, and whose turn it is. */
  readonly #paused = new Set<SessionHandle>();
  #asking = 0;
  #isTurnOfBusy = false;
  /** When the idle sessions have had their time. */
  #idleUntil = Infinity;
  #isPumping = false;
  #isStopped = false;
  #cancelIdle = nothing;
  #cancelLook = nothing;
  #cancelLast = nothing;

  constructor(options: ParkingOptions) {
    this.#options = options;
    const { clock, sessions, others } = options;
    this.#others = [...others];
    const now = clock.now();
    const order = sessions
      .map((session) => ({ session, idleMs: session.isIdle() ? now - quietSince(session, now) : 0 }))
      .toSorted((one, other) => one.idleMs - other.idleMs);
    this.#idle = order.filter(({ idleMs }) => idleMs >= BUSY_MS).map(({ session }) => session);
    for (const { session, idleMs } of order.toReversed()) if (idleMs < BUSY_MS) this.#await(session, session.isIdle());
  }

  start(): void {
    const { clock, limitMs } = this.#options;
    this.#idleEndsIn(limitMs * IDLE_PART);
    const lastMs = Math.max(limitMs * IDLE_PART, limitMs - LAST_TURN_MS);
    this.#cancelLast = clock.schedule(lastMs, () => this.#beginTurnOfBusy());
    this.#pump();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimers();
    for (const { stopListening } of this.#busy.values()) stopListening();
    this.#busy.clear();
  }

  #cancelTimers(): void {
    this.#cancelIdle();
    this.#cancelLook();
    this.#cancelLast();
  }

  #pump(): void {
    // An answer that comes synchronously is followed by the loop that is running.
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (!this.#isStopped && this.#asking < this.#options.questions) {
      const session = this.#next();
      if (session === undefined) break;
      this.#asking += 1;
      this.#options.park(session, (answer) => this.#answered(session, answer));
    }
    this.#isPumping = false;
  }

  #answered(session: SessionHandle, answer: ParkAnswer): void {
    this.#asking -= 1;
    if (this.#isStopped) return;
    if (answer === 'busy') this.#await(session, true);
    if (answer === 'stays') {
      this.#others.push(session);
      this.#options.onStays(session);
    }
    this.#pump();
  }

  /** Pauses of busy sessions are short, and idle sessions can wait. */
  #next(): SessionHandle | undefined {
    for (;;) {
      const session = this.#nextPaused() ?? this.#idle.pop();
      if (session === undefined && !this.#leavesTurnToBusy()) return undefined;
      if (session?.isIdle() === true) return session;
      if (session !== undefined) this.#await(session, true);
    }
  }

  /** To be called when no idle session is left to be asked. True: the turn of the busy ones has just begun. */
  #leavesTurnToBusy(): boolean {
    if (this.#isTurnOfBusy) return false;
    if (this.#asking > 0) this.#idleEndsIn(LAST_ANSWERS_MS);
    else this.#idleUntil = -Infinity;
    const isDue = this.#isDue();
    if (isDue) this.#setTurnOfBusy();
    return isDue;
  }

  /** Or earlier, if that was said before. */
  #idleEndsIn(ms: number): void {
    const { clock } = this.#options;
    const at = clock.now() + ms;
    if (at >= this.#idleUntil) return;
    this.#idleUntil = at;
    this.#cancelIdle();
    this.#cancelIdle = clock.schedule(ms, () => this.#look());
  }

  #look(): void {
    if (this.#isDue()) return this.#beginTurnOfBusy();
    this.#takeQuiet();
    this.#pump();
  }

  /** A busy session that has gone quiet meanwhile is an idle one. */
  #takeQuiet(): void {
    const now = this.#options.clock.now();
    for (const [session, { stopListening }] of this.#busy) {
      if (!session.isIdle() || now - quietSince(session, now) < BUSY_MS) continue;
      // Its turn has come already.
      if (this.#paused.has(session)) continue;
      stopListening();
      this.#busy.delete(session);
      this.#idle.push(session);
    }
  }

  /** A session that is parked now would wait for nothing but short transactions. Else it is looked for again soon. */
  #isDue(): boolean {
    const { clock, waitsForAll } = this.#options;
    const now = clock.now();
    if (now < this.#idleUntil) return false;
    if (!waitsForAll) return true;
    const isLong = ([session, { idleAt }]: readonly [SessionHandle, Busy]): boolean =>
      session.state === 'relaying' && !session.isIdle() && now - idleAt >= LONG_MS;
    const isDue = !this.#others.some(isLeft) && ![...this.#busy].some(isLong);
    this.#cancelLook();
    if (!isDue) this.#cancelLook = clock.schedule(LOOK_MS, () => this.#look());
    return isDue;
  }

  #nextPaused(): SessionHandle | undefined {
    for (const session of this.#paused) {
      this.#paused.delete(session);
      if (!session.isIdle()) continue;
      this.#busy.get(session)?.stopListening();
      this.#busy.delete(session);
      return session;
    }
    return undefined;
  }

  #beginTurnOfBusy(): void {
    this.#setTurnOfBusy();
    this.#pump();
  }

  /** Once: nothing looks for it behind its begin. */
  #setTurnOfBusy(): void {
    this.#isTurnOfBusy = true;
    this.#cancelTimers();
    for (const session of this.#busy.keys()) if (session.isIdle()) this.#paused.add(session);
  }

  /** Waits for its pauses. `wasIdle`: a moment ago. */
  #await(session: SessionHandle, wasIdle: boolean): void {
    if (session.state !== 'relaying') return;
    const { clock } = this.#options;
    const now = clock.now();
    const startedAt = session.isIdle() ? Infinity : now;
    let isFirst = true;
    const stopListening = session.onIdle(() => {
      busy.idleAt = clock.now();
      const isLong = isFirst && busy.idleAt - startedAt >= LONG_MS;
      isFirst = false;
      if (!this.#isTurnOfBusy && !isLong) return;
      this.#paused.add(session);
      this.#pump();
    });
    const busy: Busy = { idleAt: wasIdle ? now : -Infinity, stopListening };
    this.#busy.set(session, busy);
  }
}

function isLeft({ state }: Pick<SessionHandle, 'state'>): boolean {
  return state !== 'closing' && state !== 'closed';
}

function quietSince({ movable }: SessionHandle, now: Instant): Instant {
  return movable?.quietSince() ?? now;
}
