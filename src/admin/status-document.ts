// The status document as it is read over HTTP: its fields, their meaning and units. Ages are seconds; null stands for what is not known.
import type { PoolCounts } from '../reports/counts.ts';
import type { MemberName, MemberRefusalReason } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Standing } from '../core/standing.ts';
import type { RefusalKind } from '../core/snapshot.ts';

export interface StatusDocument {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  /** Why not. */
  readonly not_ready_because?: string;
  readonly cluster: {
    readonly scope: string | null;
    readonly system_identifier: string | null;
    /** The highest on which a member was ever positive as primary. */
    readonly timeline: number | null;
    /** True once every member first known was asked. */
    readonly first_round_complete: boolean;
    /** By the operator; members that are not known at the moment too. Forgotten when this process ends. */
    readonly drained: readonly MemberName[];
    /** By the newest document. */
    readonly scheduled_switchover: { readonly in_seconds: number; readonly from: MemberName } | null;
    /**
     * Members that answer as the primary and are not believed, while no other primary is known. Absent where there are
     * none.
     */
    readonly refused_primaries?: readonly RefusedPrimaryDocument[];
    /** The newest that was believed again. Absent where none was. */
    readonly accepted_primary?: AcceptedPrimaryDocument;
    /** The names and directories that contact points come from, as they were last asked; absent where there are none. */
    readonly contact_sources?: readonly ContactSourceDocument[];
  };
  readonly members: readonly MemberStatusDocument[];
  /**
   * What is not used of the newest /cluster document, or only in part. Contact points that cannot be used are here,
   * too.
   */
  readonly refused_members: readonly RefusedMemberDocument[];
  readonly pools: readonly PoolStatusDocument[];
  /**
   * Of this process; absent where the system does not tell. `most_sessions`: client.max_sessions, or fewer where the
   * limit has no room for them, over all workers.
   */
  readonly open_files?: { readonly limit: number; readonly in_use: number; readonly most_sessions: number };
  /** Absent where one process does everything. */
  readonly workers?: readonly WorkerDocument[];
}

export interface RefusedPrimaryDocument {
  readonly member: MemberName;
  readonly refused_for: RefusalKind;
  /** `timeline 5`, and what was seen before: `timeline 6`. */
  readonly shown: string;
  readonly expected: string;
  readonly why: string;
  /** It has answered so since then. */
  readonly for_seconds: number;
  /** Each of these ends the refusal. */
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
  /** Its place: the one that replaces it has the same. */
  readonly worker: number;
  /** Null while it is being replaced. */
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
  /** Present while it gives nothing new; without a time it never gave anything. */
  readonly failing?: { readonly for_seconds?: number; readonly why: string };
}

export interface RefusedMemberDocument {
  readonly name: MemberName;
  readonly reason: MemberRefusalReason;
  /** One sentence; names the setting that would allow it, where there is one. */
  readonly why: string;
}

export interface MemberStatusDocument {
  readonly name: MemberName;
  readonly api: string;
  readonly postgres: string | null;
  readonly origin: 'configured' | 'discovered';
  /** What its newest body said. */
  readonly role: string | null;
  readonly state: string | null;
  readonly timeline: number | null;
  readonly paused: boolean;
  readonly cluster_unlocked: boolean;
  readonly failsafe: boolean;
  readonly pending_restart: boolean;
  readonly last_answer_age_seconds: number | null;
  /** Present while its newest probe brought no answer. */
  readonly failing?: { readonly for_seconds: number; readonly outcome: string };
  /** Present while the operator has drained it. */
  readonly drained?: { readonly for_seconds: number };
  readonly pools: Readonly<Record<PoolName, StandingDocument>>;
}

export interface StandingDocument {
  readonly standing: Standing['kind'];
  /**
   * Of `leave`: what `on_leave` goes by; `not_primary`: it has never been this pool's primary, so there are no
   * sessions.
   */
  readonly cause?: string;
  /** The sentence that clients are told too. */
  readonly why: string;
}

export interface PoolStatusDocument {
  readonly name: PoolName;
  readonly check: string;
  readonly exclusive: boolean;
  readonly route: RouteDocument;
  /** The route in the log's words. */
  readonly why: string;
  readonly sessions: SessionsDocument | null;
}

export interface TargetDocument {
  readonly name: MemberName;
  readonly address: string;
  /** Its part beside the others', by its tag; absent: 1. */
  readonly weight?: number;
  /** Present: it is not in our zone. */
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
      /** The pool whose members these are, while they are not the pool's own. */
      readonly fallback: ({ readonly pool: PoolName } & Degradation) | null;
      /** Present while every member lags, and these are used all the same. */
      readonly lagging?: Degradation;
    }
  | { readonly kind: 'hold'; readonly cause: string }
  | { readonly kind: 'closed' };

export interface SessionsDocument {
  readonly by_state: PoolCounts['states'];
  readonly by_member: Readonly<Record<MemberName, number>>;
  readonly by_fallback: number;
  /** Members in their slow start, with the part of their weight that they have by now. */
  readonly slow_start?: Readonly<Record<MemberName, number>>;
  readonly accepted: number;
  readonly closed: number;
  readonly to_backend_bytes: number;
  readonly to_client_bytes: number;
}
