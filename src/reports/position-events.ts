// Events about the connections on which members are asked for their positions.
import type { MemberName } from '../model/member.ts';
import type { EventClass } from './event-parts.ts';

/** A question to a member: its position as the primary or as a replica; `nudge`: it flushes what it has written. */
export type PositionQuestion = 'primary' | 'replica' | 'nudge';

export type PositionEvent =
  | { readonly kind: 'positions_connected'; readonly member: MemberName }
  /** An attempt, a question or the connection failed. The next attempt follows within a second. */
  | { readonly kind: 'positions_failed'; readonly member: MemberName; readonly why: string }
  /** Nobody asks any longer. */
  | { readonly kind: 'positions_unused'; readonly member: MemberName }
  /** Questions of a kind that a member has answered within about a second. */
  | {
      readonly kind: 'positions_answered';
      readonly member: MemberName;
      readonly question: PositionQuestion;
      readonly count: number;
      /** From each question to its answer, in sum. */
      readonly totalMs: number;
    };

export const POSITION_EVENT_CLASSES = {
  positions_connected: 'notice',
  positions_failed: 'story',
  positions_unused: 'detail',
  positions_answered: 'detail',
} as const satisfies Readonly<Record<PositionEvent['kind'], EventClass>>;
