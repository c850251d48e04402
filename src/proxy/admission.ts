// Counts the accepted sockets, so that neither server.maxConnections nor EMFILE ever closes a client without a word. A session
// takes a slot. Beyond the cap a bounded number of visitors is still let in, to be told why they are refused or to have their
// cancel request passed on; only what exceeds both is cut off unheard, with a parting word that it may or may not read.
export type Seat = 'session' | 'visitor' | 'none';

/** Visitors at one time. */
const MOST_VISITORS = 256;

export class Admission {
  #maxSessions: number;
  #sessions = 0;
  #visitors = 0;

  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions;
  }

  /** Who is in stays in. */
  resize(maxSessions: number): void {
    this.#maxSessions = maxSessions;
  }

  admit(): Seat {
    if (this.#sessions < this.#maxSessions) {
      this.#sessions += 1;
      return 'session';
    }
    return this.#takeVisitor() ? 'visitor' : 'none';
  }

  /** A cancel request gives its slot back at once, if there is room for one more visitor. */
  becomeVisitor(seat: Seat): Seat {
    if (seat !== 'session' || !this.#takeVisitor()) return seat;
    this.leave(seat);
    return 'visitor';
  }

  leave(seat: Seat): void {
    if (seat === 'session') this.#sessions -= 1;
    if (seat === 'visitor') this.#visitors -= 1;
  }

  #takeVisitor(): boolean {
    if (this.#visitors >= MOST_VISITORS) return false;
    this.#visitors += 1;
    return true;
  }
}
