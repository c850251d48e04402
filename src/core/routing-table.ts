// The decision: for each pool which members take new sessions and what becomes of live ones. Derived from a snapshot at
// an instant, never patched; holds until `validUntil`.
import type { LeaveCause } from '../model/close-reason.ts';
import type { Evidence } from './evidence.ts';
import type { Instant } from '../model/instant.ts';
import { isSameAddress } from '../model/member.ts';
import type { Address, MemberName, MemberRefusal } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';

/** Where a new session may go. */
export interface Target {
  readonly member: MemberName;
  readonly address: Address;
  /** Its part beside the others', above 0; absent: 1. */
  readonly weight?: number;
  /** Not in our zone: it takes sessions only where nobody of our zone can. */
  readonly isFar?: true;
  /** It missed a probe: it takes sessions only where nobody else can. */
  readonly isSuspect?: true;
  /**
   * Its server tells new sessions in_hot_standby, and its API proves that it is the primary (a pooler repeats an old
   * value).
   */
  readonly isStandbyWordStale?: true;
}

export type WhyCode =
  | 'positive'
  | 'odd_weight'
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
  | 'two_primaries'
  | 'exclusive_elsewhere'
  | 'rising'
  | 'drained'
  | 'switchover_due';

/** Why a member stands as it does. Ages are rendered from `since` when shown, so the decision itself stays constant. */
export interface Why {
  readonly code: WhyCode;
  readonly since?: Instant;
  /** A few words of the evidence: `state starting`, `role replica`, `lag 18 MB`. */
  readonly detail?: string;
  /** What the rule that decided looked at. */
  readonly evidence?: Evidence;
}

/** A member's place in one pool. */
export type Standing =
  | { readonly kind: 'open'; readonly why: Why }
  /** Live sessions stay; no new ones. */
  | { readonly kind: 'keep'; readonly why: Why }
  | {
      readonly kind: 'leave';
      /** Live sessions are dealt with by the pool's `on_leave` for it. */
      readonly cause: LeaveCause;
      readonly why: Why;
      /** Of a pool of the primary: it has never been the primary, so it has left nothing. */
      readonly neverPrimary?: true;
    };

/** `drained`, `switchover`: an operator's wish keeps clients from the only member there is. */
export type HoldCause = 'starting' | 'no_member' | 'two_primaries' | 'drained' | 'switchover';

/** A pool's part of the table. */
export type Route =
  | {
      readonly kind: 'open';
      readonly targets: readonly [Target, ...Target[]];
      /** Set while the pool lives on another pool's members, with the cap for that. */
      readonly fallback: { readonly pool: PoolName; readonly maxSessions: number } | undefined;
      /** Present while its own members lag and are used all the same, with the cap for that. */
      readonly lagging?: { readonly maxSessions: number };
    }
  /** Clients wait: this may change by itself soon. */
  | { readonly kind: 'hold'; readonly cause: HoldCause }
  /** Clients are refused: every member gave a definite no. */
  | { readonly kind: 'closed' };

export interface PoolDecision {
  readonly route: Route;
  /** Every known member's place, in the snapshot's order. */
  readonly standings: ReadonlyMap<MemberName, Standing>;
  /** Where live sessions of each member were sent; a changed address means another server. */
  readonly addresses: ReadonlyMap<MemberName, Address>;
  /** The snapshot's: members that are in no pool because they are not used. */
  readonly refused: readonly MemberRefusal[];
}

export interface RoutingTable {
  readonly decidedAt: Instant;
  /** The same snapshot decides the same until then (exclusive). */
  readonly validUntil: Instant;
  readonly pools: ReadonlyMap<PoolName, PoolDecision>;
  /** True once every member first known has been asked; nothing is routed before. */
  readonly complete: boolean;
}

export type OpenRoute = Extract<Route, { kind: 'open' }>;

/** Undefined while the pool takes no new sessions. */
export function openRoute({ pools }: RoutingTable, pool: PoolName): OpenRoute | undefined {
  const route = pools.get(pool)?.route;
  return route?.kind === 'open' ? route : undefined;
}

/** Whether the member is among `targets`, at that very address. */
export function includesTarget(targets: readonly Target[], { member, address }: Target): boolean {
  return targets.some((target) => target.member === member && isSameAddress(target.address, address));
}
