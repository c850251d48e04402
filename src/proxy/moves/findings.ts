// The meaning of the answers of servers for a session that may move.
import { movability } from '../../core/movable.ts';
import type { MoveFacts } from '../../core/movable.ts';
import type { Movability, PinReason } from '../../model/moves.ts';
import { encodeParameterStatus, joined } from '../../wire/server-messages.ts';
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

/**
 * All parameters of the next server: drivers take a value that they know already without a word. Names that are not
 * ASCII have the encoding of the client, which is not known here, and are those of the session as before.
 */
export function newsOf(parameters: ReadonlyMap<string, string>): Uint8Array {
  const ascii = [...parameters].filter(([, value]) => /^[ -~]*$/.test(value));
  return joined(ascii.map(([name, value]) => encodeParameterStatus(name, value)));
}
