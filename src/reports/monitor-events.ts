// Events about the cluster: how its members answer, what a decision about them changed, and where they are found.
import type { Route } from '../core/routing-table.ts';
import type { Acceptance, RefusalKind } from '../core/snapshot.ts';
import type { Standing } from '../core/standing.ts';
import type { MemberName, MemberRefusal } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { EventClass } from './event-parts.ts';

/** The contact points that a name or a directory gives have changed. */
export interface ContactSourceEvent {
  readonly kind: 'contact_source_changed';
  /** As the operator wrote it. */
  readonly source: string;
  /** `10.0.0.1:8008` */
  readonly contactPoints: readonly string[];
  /** Present while lookups fail. `forMs`: since the last success. Absent when there was none. */
  readonly failing?: { readonly why: string; readonly forMs?: number };
}

export type MonitorEvent =
  | {
      readonly kind: 'probe_finished';
      readonly member: MemberName;
      readonly check: string;
      /** `yes`, `no`, `refused`, or the failure's cause. */
      readonly outcome: string;
      readonly detail: string | undefined;
      readonly durationMs: number;
    }
  /** The report that a member gives of itself has changed. Undefined: not reported. */
  | {
      readonly kind: 'member_reported';
      readonly member: MemberName;
      readonly role: string | undefined;
      readonly state: string | undefined;
      readonly timeline: number | undefined;
      /** It reports that no member holds the leader lock. */
      readonly isUnlocked: boolean;
      /** For how long its reports have had the same time of its last contact with the store of the leader lock. */
      readonly storeUnseenMs: number | undefined;
    }
  | {
      readonly kind: 'discovery_finished';
      readonly source: string | undefined;
      readonly detail: string | undefined;
      readonly members: number;
      readonly durationMs: number;
    }
  /** The list of listed members that are not used has changed. */
  | { readonly kind: 'members_refused'; readonly refused: readonly MemberRefusal[] }
  | {
      readonly kind: 'members_changed';
      readonly added: readonly MemberName[];
      readonly removed: readonly MemberName[];
    }
  | { readonly kind: 'route_changed'; readonly pool: PoolName; readonly from: Route | undefined; readonly to: Route }
  | {
      readonly kind: 'standing_changed';
      readonly pool: PoolName;
      readonly member: MemberName;
      readonly from: Standing | undefined;
      readonly to: Standing;
      /** The sentence of describe.ts. */
      readonly text: string;
    }
  /** A member answers as the primary and is refused, while there is no other primary. */
  | {
      readonly kind: 'primary_refused';
      readonly member: MemberName;
      readonly refusal: RefusalKind;
      /** The sentence of describe.ts. */
      readonly text: string;
    }
  /** A refused primary is accepted from now on. */
  | {
      readonly kind: 'primary_accepted';
      readonly member: MemberName;
      readonly refusal: RefusalKind;
      readonly by: Acceptance['by'];
      /** `timeline 5 instead of timeline 6` */
      readonly detail: string;
    }
  /** By the operator. */
  | { readonly kind: 'member_drained'; readonly member: MemberName }
  | { readonly kind: 'member_resumed'; readonly member: MemberName }
  /** Its server reports in_hot_standby, while its API proves that it is the primary: sessions go on. */
  | { readonly kind: 'standby_report_stale'; readonly member: MemberName }
  /**
   * An operator or a callback asked for a refresh. `isMerged`: it came too soon after another one and was merged with
   * it.
   */
  | { readonly kind: 'refresh_requested'; readonly isMerged: boolean }
  | ContactSourceEvent
  | { readonly kind: 'urgent_probing'; readonly on: boolean; readonly triggers: readonly string[] };

export const MONITOR_EVENT_CLASSES = {
  probe_finished: 'evidence',
  member_reported: 'evidence',
  discovery_finished: 'story',
  members_refused: 'story',
  members_changed: 'story',
  route_changed: 'story',
  standing_changed: 'story',
  primary_refused: 'story',
  primary_accepted: 'story',
  member_drained: 'story',
  member_resumed: 'story',
  standby_report_stale: 'story',
  refresh_requested: 'story',
  contact_source_changed: 'story',
  urgent_probing: 'notice',
} as const satisfies Readonly<Record<MonitorEvent['kind'], EventClass>>;
