// Takes one session off its server, between two of its transactions: it moves if it can, and else it ends.
import { pinText } from '../../core/pin-words.ts';
import type { EvictionCause, EvictionReason } from '../../model/close-reason.ts';
import type { PinReason } from '../../model/moves.ts';
import type { Movable } from '../stage.ts';
import type { SessionHandle } from '../stage.ts';
import type { ParkAnswer } from './parking.ts';

export interface Leaving {
  readonly cause: EvictionCause;
  /** Of the end of a session that stays. */
  readonly reason: EvictionReason;
  readonly detail: string;
}

export function leaveServer(session: SessionHandle, { cause, reason, detail }: Leaving): void {
  if (session.movable === undefined) return session.end(reason, detail);
  return session.movable.request(cause, (outcome) => {
    if (outcome.kind === 'stayed') session.end(reason, `${detail}${stayedText(outcome)}`);
  });
}

/** For the DETAIL of a session that ends although sessions move. Empty: it is not known. */
export function whyStayed(movable: Movable | undefined): string {
  const found = movable?.shown().found?.movability;
  return found?.kind === 'pinned' ? stayedText(found) : '';
}

function stayedText({ reason, detail }: { readonly reason: PinReason; readonly detail?: string | undefined }): string {
  return `; the session could not move, because it ${pinText(reason, detail)}`;
}

/** Calls `onAnswer` once, when the session is parked, has ended, or stays. */
export function askToPark(movable: Movable, cause: EvictionCause, onAnswer: (answer: ParkAnswer) => void): void {
  let isAnswered = false;
  movable.request(cause, (progress) => {
    if (isAnswered) return;
    isAnswered = true;
    if (progress.kind !== 'stayed') onAnswer('gone');
    else onAnswer(progress.reason === 'busy' ? 'busy' : 'stays');
  });
}
