// A session whose transaction is to be ended so that the session can move: when its server may be asked, and what its
// client is told. Each place where it cannot be told ends the session instead.
import { once } from '../../model/once.ts';
import type { CarriedState } from '../../model/moves.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import { CancelledStatement } from '../../wire/talk/cancelled-statement.ts';
import { asStepOf } from '../fault.ts';
import type { AbortedTransaction } from './departure.ts';
import type { MoveParts } from './move-parts.ts';
import type { QuestionChannel } from './question-channel.ts';

type Parts = Pick<MoveParts, 'session' | 'conversation' | 'mover'>;

/** A statement that runs may take this long to its end, and its server then this long to cancel it. Milliseconds. */
const STATEMENT_END_MS = 300;
const CANCEL_END_MS = 700;

/** Between two transactions. `mayAbort`: or in one, whose server waits for its client. */
export function isQuiet({ session, conversation }: Omit<Parts, 'mover'>, mayAbort: boolean): boolean {
  if (!conversation.isWhole()) return false;
  return session.isIdle() || (mayAbort && isInTransaction(conversation.activity()));
}

/**
 * Calls `run` once, synchronously where the session is quiet: when its server has answered all that it has of the
 * client, or when that is late. A statement that goes on is cancelled, and its client reads `error` for it: `hasTold`.
 * The client's next requests wait. Not at all where the session ends before.
 */
export function whenQuiet(
  parts: Parts,
  questions: QuestionChannel,
  error: Uint8Array,
  run: (hasTold: boolean) => void,
): void {
  if (isQuiet(parts, true)) return run(false);
  const { session, conversation, mover } = parts;
  let mayCancel = false;
  let cancelled: CancelledStatement | undefined;
  const finish = once(() => {
    cancelLimit();
    questions.goOn();
    if (session.state === 'relaying') run(cancelled?.hasTold() === true);
  });
  const look = (): void => {
    if (session.state !== 'relaying' || isQuiet(parts, true) || cancelled?.isUnsure() === true) return finish();
    if (!mayCancel || cancelled !== undefined || conversation.follower()?.isAtBoundaryToClient() !== true) return;
    if (!conversation.key.cancelStatement()) return finish();
    const reader = new CancelledStatement(error);
    cancelled = reader;
    questions.readThrough((chunk) => reader.take(chunk));
  };
  let cancelLimit = mover.clock.schedule(STATEMENT_END_MS, () => {
    mayCancel = true;
    cancelLimit = mover.clock.schedule(CANCEL_END_MS, finish);
    asStepOf(session, look);
  });
  return questions.pause(look);
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
