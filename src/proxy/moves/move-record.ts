// The moves of one session, for an operator: the newest answer of its server, and its last move.
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { Movability } from '../../model/moves.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { Departure } from './departure.ts';

export class MoveRecord {
  #found: SessionMoves['found'];
  #last: SessionMoves['last'];
  #moved = 0;

  answered(movability: Movability, at: Instant): void {
    this.#found = { movability, at };
  }

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

  /** `before`: what is known without a question. `underway`: while it is parked or moving. */
  shown(before: Movability, underway: SessionMoves['underway']): SessionMoves {
    const found = before.kind === 'pinned' ? { movability: before } : this.#found;
    return {
      moved: this.#moved,
      ...(this.#last !== undefined && { last: this.#last }),
      ...(found !== undefined && { found }),
      ...(underway !== undefined && { underway }),
    };
  }
}
