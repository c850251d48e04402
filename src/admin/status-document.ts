// The fields of GET /status, with their meaning and units. Ages are seconds; null means unknown.
import type { PoolCounts } from '../reports/counts.ts';
import type { MemberName, MemberRefusalReason } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Standing } from '../core/standing.ts';
import type { RefusalKind } from '../core/snapshot.ts';

export interface StatusDocument {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  /** Absent when ready. */
  readonly not_ready_because?: string;
  readonly cluster: {
    readonly scope: string | null;
    readonly system_identifier: string | null;
    /** The highest timeline on which a member was ever confirmed as primary. */
    readonly timeline: number | null;
    /** True after the first round of probes is complete. */
    readonly first_round_complete: boolean;
    /** Drained by the operator, currently unknown members included. Lost when this process ends. */
    readonly drained: readonly MemberName[];
    /** From the newest member list. */
    readonly scheduled_switchover: { readonly in_seconds: number; readonly from: MemberName } | null;
    /** Members that claim to be primary and are refused, while no other primary is known. Absent if there are none. */
    readonly refused_primaries?: readonly RefusedPrimaryDocument[];
    /** The last refused primary that was accepted. Absent if there was none. */
    readonly accepted_primary?: AcceptedPrimaryDocument;
    /** Names and directories that contact points come from, with their last result. Absent if there are none. */
    readonly contact_sources?: readonly ContactSourceDocument[];
  };
  readonly members: readonly MemberStatusDocument[];
  /** Members of the newest /cluster document that are not used, and contact points that cannot be used. */
  readonly refused_members: readonly RefusedMemberDocument[];
  readonly pools: readonly PoolStatusDocument[];
  /**
   * Of this process; absent where the system does not report it. `most_sessions`, over all workers:
   * client.max_sessions, or fewer if the limit on open files requires it.
   */
  readonly open_files?: { readonly limit: number; readonly in_use: number; readonly most_sessions: number };
  /** Absent if one process does everything. */
  readonly workers?: readonly WorkerDocument[];
}

export interface RefusedPrimaryDocument {
  readonly member: MemberName;
  readonly refused_for: RefusalKind;
  /** Reported now (`timeline 5`) and seen before (`timeline 6`). */
  readonly shown: string;
  readonly expected: string;
  readonly why: string;
  /** Time since its first such answer. */
  readonly for_seconds: number;
  /** Each entry ends the refusal. */
  readonly ends_by: readonly string[];
}

export interface AcceptedPrimaryDocument {
  readonly member: MemberName;
  readonly refused_for: RefusalKind;
  /** `timeline 5 instead of timeline 6` */
  readonly with: string;
  readonly by: 'agreement' | 'operator';
  readonly seconds_ago: number;
}

export interface WorkerDocument {
  /** Its number; a replacement keeps it. */
  readonly worker: number;
  /** Null while the worker is being replaced. */
  readonly pid: number | null;
  /** It accepts clients. */
  readonly ready: boolean;
  readonly uptime_seconds: number | null;
  readonly restarts: number;
  readonly sessions: number;
  readonly cpu_seconds: number;
  readonly resident_memory_bytes: number;
}

export interface ContactSourceDocument {
  readonly source: string;
  readonly contact_points: readonly string[];
  /** Present while it fails. Without `for_seconds`: it has never succeeded. */
  readonly failing?: { readonly for_seconds?: number; readonly why: string };
}

export interface RefusedMemberDocument {
  readonly name: MemberName;
  readonly reason: MemberRefusalReason;
  /** One sentence. Names the setting that would allow the member, if there is one. */
  readonly why: string;
}

export interface MemberStatusDocument {
  readonly name: MemberName;
  readonly api: string;
  readonly postgres: string | null;
  readonly origin: 'configured' | 'discovered';
  /** From its newest answer. */
  readonly role: string | null;
  readonly state: string | null;
  readonly timeline: number | null;
  readonly paused: boolean;
  readonly cluster_unlocked: boolean;
  readonly failsafe: boolean;
  readonly pending_restart: boolean;
  readonly last_answer_age_seconds: number | null;
  /** Present if its newest probe failed. */
  readonly failing?: { readonly for_seconds: number; readonly outcome: string };
  /** Present while it is drained by the operator. */
  readonly drained?: { readonly for_seconds: number };
  readonly pools: Readonly<Record<PoolName, StandingDocument>>;
}

export interface StandingDocument {
  readonly standing: Standing['kind'];
  /** For `leave`: a key of `on_leave`, or `not_primary` for a member that has never been primary. */
  readonly cause?: string;
  /** The sentence that clients read, too. */
  readonly why: string;
}

export interface PoolStatusDocument {
  readonly name: PoolName;
  readonly check: string;
  readonly exclusive: boolean;
  readonly route: RouteDocument;
  /** The sentence of the log. */
  readonly why: string;
  readonly sessions: SessionsDocument | null;
}

export interface TargetDocument {
  readonly name: MemberName;
  readonly address: string;
  /** Relative share of new sessions, from its tag. Absent: 1. */
  readonly weight?: number;
  /** Present if it is in another zone. */
  readonly far?: true;
}

export interface Degradation {
  readonly max_sessions: number;
  readonly for_seconds?: number;
}

export type RouteDocument =
  | {
      readonly kind: 'open';
      readonly members: readonly TargetDocument[];
      /** The pool that the members are borrowed from; null: own members. */
      readonly fallback: ({ readonly pool: PoolName } & Degradation) | null;
      /** Present while every member is over the lag limit and these are used. */
      readonly lagging?: Degradation;
    }
  | { readonly kind: 'hold'; readonly cause: string }
  | { readonly kind: 'closed' };

export interface SessionsDocument {
  readonly by_state: PoolCounts['states'];
  readonly by_member: Readonly<Record<MemberName, number>>;
  readonly by_fallback: number;
  /** Members in slow start, with the current fraction of their weight. */
  readonly slow_start?: Readonly<Record<MemberName, number>>;
  /** Time that the client has waited for a member that waits longest now. Absent while nobody waits. */
  readonly longest_wait_seconds?: number;
  readonly accepted: number;
  readonly closed: number;
  readonly to_backend_bytes: number;
  readonly to_client_bytes: number;
}
