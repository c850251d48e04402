// The parked sessions of one pool, in the order in which they move: those whose clients wait, the longest wait first;
// then those that were parked last, because their clients are the busy ones.
import type { Instant } from '../../model/instant.ts';

export interface Queued {
  /** Its client has sent something since it was parked. */
  isWaiting(): boolean;
}

export class MoveQueue<Session extends Queued> {
  /** With the instant before which each may not move. */
  readonly #all = new Map<Session, Instant>();
  readonly #waiting = new Set<Session>();
  /** The last one moves first. Sessions that have left, or wait, may still be in it. */
  #silent: Session[] = [];
  readonly #paused = new Set<Session>();

  add(session: Session, notBefore: Instant): void {
    this.#all.set(session, notBefore);
    this.#paused.add(session);
  }

  /** Its client has sent something. */
  waits(session: Session): void {
    if (this.#all.has(session) && !this.#paused.has(session)) this.#waiting.add(session);
  }

  remove(session: Session): void {
    this.#all.delete(session);
    this.#paused.delete(session);
    this.#waiting.delete(session);
    if (this.#all.size === 0) this.#silent = [];
  }

  isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** All may move at once. */
  hurry(): void {
    for (const session of this.#all.keys()) this.#all.set(session, -Infinity);
  }

  /** One of them may move now. */
  isReady(now: Instant): boolean {
    this.#promote(now);
    return this.#all.size > this.#paused.size;
  }

  /** Takes the next one out that may move. */
  take(): Session | undefined {
    const [waiting] = this.#waiting;
    let next = waiting ?? this.#silent.pop();
    while (next !== undefined && (!this.#all.has(next) || this.#paused.has(next))) next = this.#silent.pop();
    if (next !== undefined) this.remove(next);
    return next;
  }

  /** When the first pause is over; Infinity without one. */
  pausedUntil(): Instant {
    let until = Infinity;
    for (const session of this.#paused) until = Math.min(until, this.#all.get(session) ?? Infinity);
    return until;
  }

  #promote(now: Instant): void {
    for (const session of this.#paused) {
      if ((this.#all.get(session) ?? 0) > now) continue;
      this.#paused.delete(session);
      if (session.isWaiting()) this.#waiting.add(session);
      else this.#silent.push(session);
    }
  }
}
