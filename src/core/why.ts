// Why a member has its standing: a code from a closed list, and the evidence that the rule looked at. Instants, no
// ages: the decision stays the same while the sentence about it (describe.ts) grows older.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';

/** The codes, and their clauses in a sentence (describe.ts). CHECK stands for the check of the pool. */
export const WHY_WORDS = {
  positive: 'passes CHECK',
  invalid_weight: 'invalid weight, counted as 1 (valid: 0.001 to 1000000)',
  vouched: 'API not responding',
  fallback: 'used as fallback',
  least_lagging: 'over the lag limit, used because its lag is the smallest',
  never_answered: 'no answer yet',
  no_answer: 'no answer',
  vanished: 'no answer from the API and from PostgreSQL',
  refused: 'API and PostgreSQL refuse connections',
  other_cluster: 'identity mismatch',
  no_postgres_address: 'PostgreSQL address unknown',
  not_holding_the_check: 'fails CHECK',
  promoting: 'holds the leader lock, promotion not finished',
  not_running: 'PostgreSQL is not running',
  wrong_role: 'wrong role for CHECK',
  tagged_out: 'excluded by its tags',
  lagging: 'lag too high',
  stale: 'data too old',
  not_streaming: 'wrong replication state',
  other_timeline: "not yet on the primary's timeline",
  superseded: 'superseded',
  in_recovery: 'promotion not finished: its server reports that it is in recovery',
  two_primaries: 'two members claim to be primary',
  exclusive_elsewhere: 'serves an exclusive pool',
  rising: 'passes CHECK again, not yet often enough',
  drained: 'drained by the operator',
  switchover_due: 'switchover due',
  switchover_running: 'switchover in progress',
  restart_running: 'restarts',
} as const;
export type WhyCode = keyof typeof WHY_WORDS;

/** The member is too far behind the primary: in bytes, or in time. */
export function isBehind({ code }: Why): boolean {
  return code === 'lagging' || code === 'stale';
}

export interface Why {
  readonly code: WhyCode;
  readonly since?: Instant | undefined;
  /** A few words of the evidence: `state starting`, `role replica`, `lag 18 MB`. */
  readonly detail?: string | undefined;
  /** The facts that the rule looked at. */
  readonly evidence?: Evidence | undefined;
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
  readonly answer?: JudgedAnswer | undefined;
  /** The newest yes to the check. */
  readonly yesAt?: Instant | undefined;
  /** The newest answer is a yes to the check. */
  readonly isYes?: boolean | undefined;
  readonly timeline?: number | undefined;
  /** Equal answers in a row, and how many of them would decide. */
  readonly streak?: { readonly count: number; readonly needed: number } | undefined;
  /** The member has not answered since then. */
  readonly silentSince?: Instant | undefined;
  /** Its API and its PostgreSQL port were silent at the newest probe that tells it, or it has vanished. */
  readonly isHostSilent?: boolean | undefined;
  readonly vouch?: { readonly by: MemberName; readonly at: Instant } | undefined;
  readonly mismatchAt?: Instant | undefined;
  /** Our own estimate, and the limit of the check. Bytes. */
  readonly lag?: { readonly bytes: number; readonly boundBytes: number } | undefined;
  /** In a pool with `max_staleness`. Milliseconds. */
  readonly staleness?: { readonly ms: number; readonly limitMs: number } | undefined;
  /** New sessions need a yes younger than `freshMs`. Live sessions end when the last answer is `graceMs` old. */
  readonly freshMs: number;
  readonly graceMs: number;
}
