// Counts the moves of one pool, from its first parked session until none is parked or moving.
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { MOVE_FAILURES } from '../../model/moves.ts';
import type { MoveFailure, PinReason } from '../../model/moves.ts';
import type { CloseReason } from '../../model/close-reason.ts';
import type { PoolName } from '../../model/policy.ts';
import type { MoveEvent } from '../../reports/move-events.ts';

export class MoveTally {
  readonly #startedAt: Instant;
  readonly #from = new Set<MemberName>();
  readonly #to = new Set<MemberName>();
  readonly #stayed: Partial<Record<PinReason, number>> = {};
  readonly #failed: Partial<Record<MoveFailure, number>> = {};
  #moved = 0;
  #ended = 0;
  #longestGapMs = 0;
  #underway = 0;

  constructor(startedAt: Instant) {
    this.#startedAt = startedAt;
  }

  parked(from: MemberName): void {
    this.#from.add(from);
    this.#underway += 1;
  }

  stayed(reason: PinReason): void {
    this.#stayed[reason] = (this.#stayed[reason] ?? 0) + 1;
  }

  moved(to: MemberName, gapMs: number): void {
    this.#to.add(to);
    this.#moved += 1;
    this.#underway -= 1;
    this.#longestGapMs = Math.max(this.#longestGapMs, gapMs);
  }

  ended(reason: CloseReason): void {
    const failure = MOVE_FAILURES.find((one) => one === reason);
    if (failure === undefined) this.#ended += 1;
    else this.#failed[failure] = (this.#failed[failure] ?? 0) + 1;
    this.#underway -= 1;
  }

  isOver(): boolean {
    return this.#underway === 0;
  }

  finished(pool: PoolName, now: Instant): Extract<MoveEvent, { kind: 'moves_finished' }> {
    return {
      kind: 'moves_finished',
      pool,
      from: only(this.#from),
      to: only(this.#to),
      moved: this.#moved,
      stayed: this.#stayed,
      failed: this.#failed,
      ended: this.#ended,
      longestGapMs: this.#longestGapMs,
      durationMs: now - this.#startedAt,
    };
  }
}

/** The one member; undefined if there are several, or none. */
function only(members: ReadonlySet<MemberName>): MemberName | undefined {
  const [first] = members;
  return members.size === 1 ? first : undefined;
}
