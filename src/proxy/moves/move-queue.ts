// The parked sessions of one role in one pool, in the order in which they move: those whose clients wait, the longest
// wait first; then those that were parked last, because their clients are the busy ones. A session that has failed once
// may fail again and again: it never comes before a client that waits for its first attempt, and leaves every other
// turn to the sessions that have not tried yet.

export class MoveQueue<Session extends { isWaiting(): boolean }> {
  readonly #lanes = new Map<Session, Lane<Session>>();
  readonly #first = new Lane<Session>();
  readonly #repeated = new Lane<Session>();
  #isTurnOfRepeated = false;

  /** `isRepeated`: an attempt of it has failed. */
  add(session: Session, isRepeated: boolean): void {
    const lane = isRepeated ? this.#repeated : this.#first;
    this.#lanes.set(session, lane);
    lane.add(session, session.isWaiting());
  }

  /** Its client has sent something. */
  waits(session: Session): void {
    this.#lanes.get(session)?.waits(session);
  }

  remove(session: Session): void {
    this.#lanes.get(session)?.remove(session);
    this.#lanes.delete(session);
  }

  isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  /** The next one is a client that waits for its first attempt. */
  hasWaiting(): boolean {
    return this.#first.waiting() !== undefined;
  }

  /** Takes the next one out. */
  take(): Session | undefined {
    const next = this.#first.waiting() ?? this.#inTurn();
    if (next !== undefined) this.remove(next);
    return next;
  }

  #inTurn(): Session | undefined {
    const [first, repeated] = [this.#first.silent(), this.#repeated.waiting() ?? this.#repeated.silent()];
    if (first === undefined || repeated === undefined) return first ?? repeated;
    this.#isTurnOfRepeated = !this.#isTurnOfRepeated;
    return this.#isTurnOfRepeated ? first : repeated;
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
    this.#silent.delete(session);
    this.#waiting.add(session);
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
