// Takes one session off its server, between two of its transactions: it moves if it can, and else it ends.
import type { EvictionCause, EvictionReason } from '../../model/close-reason.ts';
import type { RegisteredSession } from '../session-registry.ts';

export interface Leaving {
  readonly cause: EvictionCause;
  /** Of the end of a session that stays. */
  readonly reason: EvictionReason;
  readonly detail: string;
}

export function leaveServer(session: RegisteredSession, { cause, reason, detail }: Leaving): void {
  if (session.movable === undefined) return session.end(reason, detail);
  return session.movable.request(cause, ({ kind }) => {
    if (kind === 'stayed') session.end(reason, detail);
  });
}
