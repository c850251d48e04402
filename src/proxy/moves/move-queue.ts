// The parked sessions of one role in one pool, in the order in which they move: those whose clients wait, the longest
// wait first; then those that were parked last, because their clients are the busy ones. A session that has failed once
// may fail again and again: it never comes before a client that waits for its first attempt, and leaves every other
// turn to the sessions that have not tried yet.
import type { Instant } from '../../model/instant.ts';

export interface Queued {
  /** Its client has sent something since it was parked. */
  isWaiting(): boolean;
}

interface Entry {
  /** It may not move before. */
  notBefore: Instant;
  readonly isRepeated: boolean;
}

export class MoveQueue<Session extends Queued> {
  readonly #all = new Map<Session, Entry>();
  readonly #paused = new Set<Session>();
  readonly #first = new Lane<Session>();
  readonly #repeated = new Lane<Session>();
  #isTurnOfRepeated = false;

  /** `isRepeated`: an attempt of it has failed. */
  add(session: Session, notBefore: Instant, isRepeated: boolean): void {
    this.#all.set(session, { notBefore, isRepeated });
    this.#paused.add(session);
  }

  /** Its client has sent something. */
  waits(session: Session): void {
    const entry = this.#all.get(session);
    if (entry !== undefined && !this.#paused.has(session)) this.#laneOf(entry).waits(session);
  }

  remove(session: Session): void {
    const entry = this.#all.get(session);
    if (entry === undefined) return;
    this.#all.delete(session);
    this.#paused.delete(session);
    this.#laneOf(entry).remove(session);
  }

  placeOf(session: Session): 'queued' | 'paused' | undefined {
    if (!this.#all.has(session)) return undefined;
    return this.#paused.has(session) ? 'paused' : 'queued';
  }

  isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** All may move at once. */
  hurry(): void {
    for (const entry of this.#all.values()) entry.notBefore = -Infinity;
  }

  /** The next one is a client that waits for its first attempt. */
  hasWaiting(): boolean {
    return this.#first.waiting() !== undefined;
  }

  /** One of them may move now. */
  isReady(now: Instant): boolean {
    this.#promote(now);
    return this.#all.size > this.#paused.size;
  }

  /** Takes the next one out that may move. */
  take(): Session | undefined {
    const next = this.#first.waiting() ?? this.#inTurn();
    if (next !== undefined) this.remove(next);
    return next;
  }

  /** When the first pause is over; Infinity without one. */
  pausedUntil(): Instant {
    let until = Infinity;
    for (const session of this.#paused) until = Math.min(until, this.#all.get(session)?.notBefore ?? Infinity);
    return until;
  }

  #inTurn(): Session | undefined {
    const [first, repeated] = [this.#first.silent(), this.#repeated.waiting() ?? this.#repeated.silent()];
    if (first === undefined || repeated === undefined) return first ?? repeated;
    this.#isTurnOfRepeated = !this.#isTurnOfRepeated;
    return this.#isTurnOfRepeated ? first : repeated;
  }

  #promote(now: Instant): void {
    for (const session of this.#paused) {
      const entry = this.#all.get(session);
      if (entry === undefined || entry.notBefore > now) continue;
      this.#paused.delete(session);
      this.#laneOf(entry).add(session, session.isWaiting());
    }
  }

  #laneOf({ isRepeated }: Entry): Lane<Session> {
    return isRepeated ? this.#repeated : this.#first;
  }
}

class Lane<Session> {
  readonly #waiting = new Set<Session>();
  readonly #silent = new Set<Session>();
  /** The last one moves first. Sessions that are no longer silent may still be in it. */
  #order: Session[] = [];

  add(session: Session, isWaiting: boolean): void {
    if (isWaiting) return void this.#waiting.add(session);
    this.#silent.add(session);
    this.#order.push(session);
    return undefined;
  }

  waits(session: Session): void {
    if (this.#silent.delete(session)) this.#waiting.add(session);
  }

  remove(session: Session): void {
    this.#waiting.delete(session);
    this.#silent.delete(session);
    if (this.#silent.size === 0) this.#order = [];
  }

  /** The one that has waited longest. */
  waiting(): Session | undefined {
    const [longest] = this.#waiting;
    return longest;
  }

  silent(): Session | undefined {
    for (;;) {
      const last = this.#order.at(-1);
      if (last === undefined || this.#silent.has(last)) return last;
      this.#order.pop();
    }
  }
}
