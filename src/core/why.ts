// Why a member has its standing: a code from a closed list, and the evidence that the rule looked at. Instants, no
// ages: the decision stays the same while the sentence about it (describe.ts) grows older.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';

export type WhyCode =
  | 'positive'
  | 'invalid_weight'
  | 'vouched'
  | 'fallback'
  | 'least_lagging'
  | 'never_answered'
  | 'no_answer'
  | 'vanished'
  | 'refused'
  | 'other_cluster'
  | 'no_postgres_address'
  | 'not_holding_the_check'
  | 'promoting'
  | 'not_running'
  | 'wrong_role'
  | 'tagged_out'
  | 'lagging'
  | 'other_timeline'
  | 'superseded'
  | 'in_recovery'
  | 'two_primaries'
  | 'exclusive_elsewhere'
  | 'rising'
  | 'drained'
  | 'switchover_due'
  | 'switchover_running'
  | 'restart_running';

export interface Why {
  readonly code: WhyCode;
  readonly since?: Instant;
  /** A few words of the evidence: `state starting`, `role replica`, `lag 18 MB`. */
  readonly detail?: string;
  /** The facts that the rule looked at. */
  readonly evidence?: Evidence;
}

/** One answer that was judged. */
export interface JudgedAnswer {
  /** The check that was asked, which may be another one whose body decided. */
  readonly to: string;
  readonly status: 200 | 503;
  readonly at: Instant;
}

export interface Evidence {
  readonly check: string;
  readonly isExclusive: boolean;
  /** The newest answer that was judged. Absent: there is none, or both ports refused. */
  readonly answer?: JudgedAnswer;
  /** The newest yes to the check. */
  readonly yesAt?: Instant;
  /** The newest answer is a yes to the check. */
  readonly isYes?: boolean;
  readonly timeline?: number;
  /** Equal answers in a row, and how many of them would decide. */
  readonly streak?: { readonly count: number; readonly needed: number };
  /** The member has not answered since then. */
  readonly silentSince?: Instant;
  readonly vouch?: { readonly by: MemberName; readonly at: Instant };
  readonly mismatchAt?: Instant;
  /** Our own estimate, and the limit of the check. Bytes. */
  readonly lag?: { readonly bytes: number; readonly boundBytes: number };
  /** New sessions need a yes younger than `freshMs`. Live sessions end when the last answer is `graceMs` old. */
  readonly freshMs: number;
  readonly graceMs: number;
}
