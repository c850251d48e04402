// The moves of one session, for an operator: the newest answer of its server, and its last move.
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { Movability } from '../../model/moves.ts';
import type { SessionMoves } from '../../reports/session-list.ts';
import type { Journey } from './movable.ts';

interface Underway extends Journey {
  /** Undefined: it is moving. */
  waitsFor(): string | undefined;
  /** Why the last attempt did not succeed. */
  lastFailure(): string | undefined;
}

export class MoveRecord {
  #found: SessionMoves['found'];
  #last: SessionMoves['last'];
  #moved = 0;

  answered(movability: Movability, at: Instant): void {
    this.#found = { movability, at };
  }

  moved({ from, cause, parkedAt }: Journey, to: MemberName, at: Instant): void {
    this.#moved += 1;
    this.#last = { from, to, cause, gapMs: at - parkedAt, at };
  }

  /** `before`: what is known without a question. `journey`: while it is parked or moving. */
  shown(before: Movability, journey: Underway | undefined): SessionMoves {
    const found = before.kind === 'pinned' ? { movability: before } : this.#found;
    return {
      moved: this.#moved,
      ...(this.#last !== undefined && { last: this.#last }),
      ...(found !== undefined && { found }),
      ...(journey !== undefined && { underway: underwayOf(journey) }),
    };
  }
}

function underwayOf(journey: Underway): NonNullable<SessionMoves['underway']> {
  const { from, cause, parkedAt: leftAt } = journey;
  const waitsFor = journey.waitsFor();
  const why = journey.lastFailure();
  return {
    from,
    cause,
    leftAt,
    isWaiting: journey.isWaiting(),
    ...(waitsFor !== undefined && { waitsFor }),
    ...(why !== undefined && { why }),
  };
}
