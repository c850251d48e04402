// The order in which the sessions of a server that hands over are parked: those that have been idle longest first, and
// the busy ones last, because only their clients notice how long they are parked. The server has other work, so it is
// asked for some sessions at a time.
import type { Clock } from '../../model/instant.ts';
import type { RegisteredSession } from '../session-registry.ts';

/** `busy`: it had no pause after all. `stays`: it cannot move. `gone`: it is parked, or has ended. */
export type ParkAnswer = 'busy' | 'stays' | 'gone';

export interface ParkingInputs {
  readonly clock: Clock;
  readonly sessions: readonly ParkingSession[];
  /** Called for an idle session. It calls `onAnswer` once. */
  readonly park: (session: ParkingSession, onAnswer: (answer: ParkAnswer) => void) => void;
  readonly onStays: (session: ParkingSession) => void;
  /** Busy sessions wait no longer than this for the idle ones. Milliseconds. */
  readonly busyAfterMs: number;
}

/** A session that may move. */
export interface ParkingSession extends RegisteredSession {
  readonly movable: NonNullable<RegisteredSession['movable']>;
}

/** Questions at a time. */
const CONCURRENT = 16;
/** A session is busy that had an answer of its server in this time. Milliseconds. */
const BUSY_MS = 1_000;
/** Busy sessions wait no longer than this for the last answers of idle ones. Milliseconds. */
const LAST_ANSWERS_MS = 250;
/** A transaction that lasts longer may be followed by another one, so the first pause is used. Milliseconds. */
const LONG_MS = 1_000;

export class Parking {
  readonly #inputs: ParkingInputs;
  /** The next one is the last. */
  readonly #idle: ParkingSession[];
  /** With the function that stops the wait for their pauses. */
  readonly #busy = new Map<ParkingSession, () => void>();
  /** Busy ones that have a pause, and whose turn it is. */
  readonly #paused = new Set<ParkingSession>();
  #asking = 0;
  #isTurnOfBusy = false;
  #turnOfBusyAt = Infinity;
  #isPumping = false;
  #isStopped = false;
  #cancelTurn = (): void => {};

  constructor(inputs: ParkingInputs) {
    this.#inputs = inputs;
    const { clock, sessions } = inputs;
    const now = clock.now();
    const order = sessions
      .map((session) => ({ session, idleMs: session.isIdle() ? now - session.movable.quietSince() : 0 }))
      .toSorted((one, other) => one.idleMs - other.idleMs);
    this.#idle = order.filter(({ idleMs }) => idleMs >= BUSY_MS).map(({ session }) => session);
    for (const { session, idleMs } of order.toReversed()) if (idleMs < BUSY_MS) this.#await(session);
  }

  start(): void {
    this.#turnOfBusyIn(this.#inputs.busyAfterMs);
    this.#pump();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTurn();
    for (const stopListening of this.#busy.values()) stopListening();
    this.#busy.clear();
  }

  #pump(): void {
    // An answer that comes synchronously is followed by the loop that is running.
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (!this.#isStopped && this.#asking < CONCURRENT) {
      const session = this.#next();
      if (session === undefined) break;
      this.#asking += 1;
      this.#inputs.park(session, (answer) => this.#answered(session, answer));
    }
    this.#isPumping = false;
  }

  #answered(session: ParkingSession, answer: ParkAnswer): void {
    this.#asking -= 1;
    if (this.#isStopped) return;
    if (answer === 'busy') this.#await(session);
    if (answer === 'stays') this.#inputs.onStays(session);
    this.#pump();
  }

  /** Pauses of busy sessions are short, and idle sessions can wait. */
  #next(): ParkingSession | undefined {
    for (;;) {
      const session = this.#nextPaused() ?? this.#idle.pop();
      if (session === undefined && !this.#leavesTurnToBusy()) return undefined;
      if (session?.isIdle() === true) return session;
      if (session !== undefined) this.#await(session);
    }
  }

  /** To be called when no idle session is left to be asked. True: the turn of the busy ones has just begun. */
  #leavesTurnToBusy(): boolean {
    if (this.#isTurnOfBusy) return false;
    if (this.#asking === 0) this.#beginTurnOfBusy();
    else this.#turnOfBusyIn(LAST_ANSWERS_MS);
    return this.#isTurnOfBusy;
  }

  /** Or earlier, if that was said before. */
  #turnOfBusyIn(ms: number): void {
    const { clock } = this.#inputs;
    const at = clock.now() + ms;
    if (at >= this.#turnOfBusyAt) return;
    this.#turnOfBusyAt = at;
    this.#cancelTurn();
    this.#cancelTurn = clock.schedule(ms, () => {
      this.#beginTurnOfBusy();
      this.#pump();
    });
  }

  #nextPaused(): ParkingSession | undefined {
    for (const session of this.#paused) {
      this.#paused.delete(session);
      if (!session.isIdle()) continue;
      this.#busy.get(session)?.();
      this.#busy.delete(session);
      return session;
    }
    return undefined;
  }

  #beginTurnOfBusy(): void {
    this.#isTurnOfBusy = true;
    this.#cancelTurn();
    for (const session of this.#busy.keys()) if (session.isIdle()) this.#paused.add(session);
  }

  /** Waits for its pauses. */
  #await(session: ParkingSession): void {
    if (session.state !== 'relaying') return;
    const { clock } = this.#inputs;
    const startedAt = session.isIdle() ? undefined : clock.now();
    let isFirst = true;
    let isLong = false;
    const stopListening = session.onIdle(() => {
      isLong ||= isFirst && startedAt !== undefined && clock.now() - startedAt >= LONG_MS;
      isFirst = false;
      if (!this.#isTurnOfBusy && !isLong) return;
      this.#paused.add(session);
      this.#pump();
    });
    this.#busy.set(session, stopListening);
  }
}
