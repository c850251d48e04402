// The meaning of the answers of servers for a session that may move.
import type { Shown } from '../../core/caught-up.ts';
import { movability } from '../../core/movable.ts';
import type { MoveFacts } from '../../core/movable.ts';
import type { CarriedState, Movability, PinReason } from '../../model/moves.ts';
import type { QuestionResult } from '../../wire/talk/session-question.ts';

export type PinnedAs = Extract<Movability, { kind: 'pinned' }>;

export function pinned(reason: PinReason, detail?: string): PinnedAs {
  return { kind: 'pinned', reason, ...(detail !== undefined && { detail }) };
}

/** `shown`: what a read session has seen, for a state that has just come. A text: no other server can be compared. */
export function judged(
  facts: MoveFacts,
  result: QuestionResult | undefined,
  shown: (state: CarriedState) => Shown | string | undefined,
): Movability {
  if (result === undefined) return pinned('question_failed', 'no answer in time');
  if (result.kind !== 'answered') {
    return pinned(result.kind === 'failed' ? result.reason : 'question_failed', result.why);
  }
  const found = movability(facts, result.state);
  const seen = found.kind === 'movable' ? shown(result.state) : undefined;
  return typeof seen === 'string' ? pinned('unknown_position', seen) : found;
}
