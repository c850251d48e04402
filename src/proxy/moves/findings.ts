// The meaning of the answers of servers for a session that may move.
import { movability } from '../../core/movable.ts';
import type { MoveFacts } from '../../core/movable.ts';
import type { Movability, PinReason } from '../../model/moves.ts';
import type { QuestionResult } from '../../wire/session-question.ts';

export type PinnedAs = Extract<Movability, { kind: 'pinned' }>;

export function pinned(reason: PinReason, detail?: string): PinnedAs {
  return { kind: 'pinned', reason, ...(detail !== undefined && { detail }) };
}

export function judged(facts: MoveFacts, result: QuestionResult | undefined): Movability {
  if (result === undefined) return pinned('question_failed', 'no answer in time');
  if (result.kind === 'answered') return movability(facts, result.state);
  return pinned(result.kind === 'failed' ? result.reason : 'question_failed', result.why);
}
