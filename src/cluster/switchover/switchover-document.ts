// An operation as the admin API and `--json` show it, while it runs and after its end.
import type { MemberName } from '../../model/member.ts';
import type { OperationOutcome } from '../../reports/events.ts';
import type { ClusterReport } from '../control.ts';

export const PHASES = ['check', 'hold', 'drain', 'switch', 'confirm', 'release'] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseDocument {
  readonly phase: Phase;
  /** ISO 8601. */
  readonly started_at: string;
  /** Null while it runs. */
  readonly duration_ms: number | null;
}

export interface SwitchoverSessions {
  /** On the primary when the drain began, in all pools. */
  readonly at_start: number;
  /** Clients that waited, the ones that wait now, and the longest wait. */
  readonly held: number;
  readonly waiting: number;
  readonly longest_wait_ms: number;
  /** Of these, the ones that were refused before there was a primary. */
  readonly not_served: number;
  /** Ended between two transactions. */
  readonly ended: number;
  /** Left the primary instead of ending; their clients wait for the next server. */
  readonly parked: number;
  /** Of these, the ones that go on: with the next primary, or with the old one if it stays. */
  readonly moved: number;
  /** Of these, the ones that ended because they could not go on. */
  readonly move_failed: number;
  /** Cut in a transaction at the end of the time for it, or with TLS that cannot be read. */
  readonly cut: number;
  /** Ended by the server, or by other rules, after the drain began. */
  readonly lost: number;
}

export interface OperationDocument {
  readonly id: string;
  readonly kind: 'switchover';
  readonly state: 'running' | 'ended';
  readonly outcome: OperationOutcome | null;
  /** One sentence about the outcome. */
  readonly why: string | null;
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
  /** The last phase that began. */
  readonly phase: Phase;
  readonly phases: readonly PhaseDocument[];
  readonly from: MemberName | null;
  /** The member that was asked for. Null: the cluster chooses. */
  readonly to: MemberName | null;
  readonly transaction_timeout_ms: number;
  readonly sessions: SwitchoverSessions;
  /** How long new clients waited because of the operation. */
  readonly held_ms: number | null;
  /** From the request to the proof of the next primary. The old one serves in the first part of it. */
  readonly switch_ms: number | null;
  /** From the first answer with which the old primary stepped down to the proof of the next one. */
  readonly without_primary_ms: number | null;
  /** The member that takes new clients of the primary now. */
  readonly primary: MemberName | null;
  /** As the members report it after the end. Null: not read yet, or not readable. */
  readonly cluster: ClusterReport | null;
}
