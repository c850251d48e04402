// A session in a transaction that is to be rolled back so that the session can move: when its server may be asked, and
// what its client is told. Each place where it cannot be told ends the session instead.
import { once } from '../../model/once.ts';
import type { CarriedState } from '../../model/moves.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import type { AbortedTransaction } from './departure.ts';
import type { MoveParts } from './move-parts.ts';
import type { QuestionChannel } from './question-channel.ts';

type Parts = Pick<MoveParts, 'session' | 'conversation' | 'mover'>;

/** A statement that runs may take this long to its end. Milliseconds. */
const STATEMENT_END_MS = 300;

/** Between two transactions. `mayAbort`: or in one, whose server waits for its client. */
export function isQuiet({ session, conversation }: Omit<Parts, 'mover'>, mayAbort: boolean): boolean {
  if (!conversation.isWhole()) return false;
  return session.isIdle() || (mayAbort && isInTransaction(conversation.activity()));
}

/**
 * Calls `run` once, synchronously where the session is quiet: when its server has answered all that it has of the
 * client, or when that is late. The client's next requests wait. Not at all where the session ends before.
 */
export function whenQuiet(parts: Parts, questions: QuestionChannel, run: () => void): void {
  if (isQuiet(parts, true)) return run();
  const finish = once(() => {
    cancelLimit();
    questions.goOn();
    if (parts.session.state === 'relaying') run();
  });
  const cancelLimit = parts.mover.clock.schedule(STATEMENT_END_MS, finish);
  return questions.pause(() => {
    if (isQuiet(parts, true)) finish();
  });
}

/** Undefined: none was open. The error is told unless the client knows already that it has failed. */
export function abortedTransaction(
  { session, conversation }: Omit<Parts, 'mover'>,
  error: Uint8Array,
  memory: SessionMemory,
  { prepared }: CarriedState,
): AbortedTransaction | undefined {
  if (session.isIdle()) return undefined;
  if (conversation.activity() === 'in_failed_transaction') return { owed: undefined };
  const textOf = (name: string): string | undefined =>
    name === '' ? memory.unnamedText() : prepared.find((one) => one.name === name)?.statement;
  return { owed: { error, textOf } };
}

function isInTransaction(activity: ReturnType<Parts['conversation']['activity']>): boolean {
  return activity === 'in_transaction' || activity === 'in_failed_transaction';
}
