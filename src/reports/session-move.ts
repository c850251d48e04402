// How the move of one session went, for the operator who asked for it.
import type { CloseReason } from '../model/close-reason.ts';
import type { MemberName } from '../model/member.ts';
import type { MovesPolicy, PinReason } from '../model/moves.ts';

/** After this time the answer to a question no longer counts. Milliseconds. */
export const LONGEST_QUESTION_MS = 5_000;

/** `mayAbort`: a transaction that is still open after `moves.wait` is rolled back, and its client reads 40001. */
export interface MoveRequest {
  readonly session: number;
  readonly mayAbort: boolean;
}

/** `durationMs`: from the request. `from`: undefined if the session had no member. */
export type MoveResult =
  | {
      readonly kind: 'moved';
      readonly from: MemberName | undefined;
      /** Equal to `from`: the session has another connection to the same server. */
      readonly to: MemberName;
      readonly durationMs: number;
    }
  /** It is where it was, and its client noticed nothing. */
  | {
      readonly kind: 'stayed';
      readonly reason: PinReason;
      readonly detail?: string | undefined;
      readonly from: MemberName | undefined;
      readonly durationMs: number;
    }
  /** It has ended. */
  | {
      readonly kind: 'failed';
      readonly reason: CloseReason;
      readonly detail?: string | undefined;
      readonly from: MemberName | undefined;
      readonly durationMs: number;
    }
  | { readonly kind: 'unknown' }
  /** The configuration has no section `moves`. */
  | { readonly kind: 'not_configured' }
  /** It has the request, and did not answer in time: the session may still move. */
  | { readonly kind: 'silent_worker'; readonly worker: number };

/** A session that is busy or parked as long as it may be, is asked, and ends. Milliseconds. */
export function longestMove({ waitMs, parkTimeoutMs }: Pick<MovesPolicy, 'waitMs' | 'parkTimeoutMs'>): number {
  return waitMs + LONGEST_QUESTION_MS + parkTimeoutMs;
}
