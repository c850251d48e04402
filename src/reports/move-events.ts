// Events about sessions that move from one server to another. A move that fails for good has no event of its own: its
// session ends with a reason of MOVE_FAILURES.
import type { MoveCause, MoveFailure } from '../model/close-reason.ts';
import type { MemberName } from '../model/member.ts';
import type { PinReason } from '../model/moves.ts';
import type { PoolName } from '../model/policy.ts';
import type { EventClass, OfSession } from './event-parts.ts';

/** `failed`: the server did not answer, or not as it must. Then the session is pinned for `question_failed`. */
export const QUESTION_RESULTS = ['movable', 'pinned', 'failed'] as const;
export type QuestionResult = (typeof QUESTION_RESULTS)[number];

export type MoveEvent =
  /** The server of a session was asked for its state. */
  | (OfSession & {
      readonly kind: 'session_asked';
      readonly member: MemberName;
      readonly result: QuestionResult;
      readonly durationMs: number;
    })
  /** The session has left its server. Its client waits for the next one. */
  | (OfSession & {
      readonly kind: 'session_parked';
      readonly member: MemberName;
      readonly cause: MoveCause;
      /** Its transaction was ended for that. */
      readonly hasAborted?: true;
    })
  /** An attempt to move failed for a reason that the attempt before it did not have. Another one follows. */
  | (OfSession & {
      readonly kind: 'move_attempt_failed';
      readonly cause: MoveCause;
      /** Without an address. */
      readonly detail: string;
    })
  | (OfSession & {
      readonly kind: 'session_moved';
      /** Equal: the session went back to its server. */
      readonly from: MemberName;
      readonly to: MemberName;
      readonly cause: MoveCause;
      /** From its park. */
      readonly gapMs: number;
      /** From the connect to the end of the restore. Contained in `gapMs`. */
      readonly loginMs: number;
      /** Its client had sent something that waited. */
      readonly wasWaiting: boolean;
    })
  /** The session was to move and cannot. */
  | (OfSession & {
      readonly kind: 'session_stayed';
      readonly member: MemberName;
      readonly cause: MoveCause;
      readonly reason: PinReason;
      readonly detail?: string | undefined;
    })
  /** No session of the pool is parked or moving any more. The counts are of the sessions since the first of them. */
  | {
      readonly kind: 'moves_finished';
      readonly pool: PoolName;
      /** The members that the moved sessions left and reached. Undefined: several members, or none. */
      readonly from: MemberName | undefined;
      readonly to: MemberName | undefined;
      readonly moved: number;
      readonly stayed: Counts<PinReason>;
      readonly failed: Counts<MoveFailure>;
      /** Parked sessions that ended otherwise: their clients left, or an operator ended them. */
      readonly ended: number;
      readonly longestGapMs: number;
      readonly durationMs: number;
    }
  /** All sessions of a member were asked, and none was moved. `unknown`: they gave no answer in time. */
  | {
      readonly kind: 'preflight_finished';
      readonly member: MemberName;
      readonly movable: number;
      readonly stays: Counts<PinReason>;
      readonly unknown: number;
      readonly durationMs: number;
    };

export type PreflightEvent = Extract<MoveEvent, { kind: 'preflight_finished' }>;

/** Absent: none. */
export type Counts<Reason extends string> = Readonly<Partial<Record<Reason, number>>>;

/** One session is a detail; the end of a batch sums them up. */
export const MOVE_EVENT_CLASSES = {
  session_asked: 'detail',
  session_parked: 'detail',
  move_attempt_failed: 'detail',
  session_moved: 'detail',
  session_stayed: 'detail',
  moves_finished: 'story',
  preflight_finished: 'detail',
} as const satisfies Readonly<Record<MoveEvent['kind'], EventClass>>;
