// The moves of one session, for an operator.
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { Departure } from './departure.ts';

export class MoveRecord {
  #last: SessionMoves['last'];
  #moved = 0;

  moved(
    { departure, parkedAt }: { readonly departure: Departure; readonly parkedAt: Instant },
    to: MemberName,
    at: Instant,
  ): void {
    const { from, cause, hasAborted } = departure;
    this.#moved += 1;
    const isAborted = hasAborted === true ? { hasAborted } : {};
    this.#last = { from, to, cause, gapMs: at - parkedAt, ...isAborted, at };
  }

  /** `found`: whether it can move. `underway`: while it is parked or moving. */
  shown(found: SessionMoves['found'], underway: SessionMoves['underway']): SessionMoves {
    return {
      moved: this.#moved,
      ...(this.#last !== undefined && { last: this.#last }),
      ...(found !== undefined && { found }),
      ...(underway !== undefined && { underway }),
    };
  }
}
