// The decision: for each pool, which members take new sessions and what happens to live ones. It is derived from a
// snapshot at an instant, is never patched, and holds until `validUntil`.
import type { Instant } from '../model/instant.ts';
import { isSameAddress, type Address, type MemberName, type MemberRefusal } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Standings } from './standing.ts';

/** A member that a new session may be routed to. */
export interface Target {
  readonly member: MemberName;
  readonly address: Address;
  /** Its share relative to the other targets, above 0. Absent: 1. */
  readonly weight?: number;
  /** In another zone: it takes sessions only while no target of our zone can. */
  readonly isFar?: true;
  /** It missed a probe: it takes sessions only while no other target can. */
  readonly isSuspect?: true;
  /**
   * Its server reports in_hot_standby to new sessions, while its API proves that it is the primary: a pooler repeats an
   * old value.
   */
  readonly isStandbyReportStale?: true;
  /** Its server was in recovery a moment ago: one client tries it at a time. */
  readonly isTrial?: true;
}

/** `drained`, `switchover`, `restart`: the operator keeps clients away from the only member that could serve. */
export const HOLD_WORDS = {
  starting: 'the first round of probes is not complete',
  no_member: 'no eligible member',
  two_primaries: 'two members claim to be primary',
  in_recovery: 'the server of the primary is in recovery',
  drained: 'the only eligible member is drained',
  switchover: 'a switchover is due or running',
  restart: 'the primary restarts',
} as const;
export type HoldCause = keyof typeof HOLD_WORDS;

/** A pool's part of the table. */
export type Route =
  | {
      readonly kind: 'open';
      readonly targets: readonly [Target, ...Target[]];
      /** Set while another pool's members serve this pool, with the limit for that. */
      readonly fallback: { readonly pool: PoolName; readonly maxSessions: number } | undefined;
      /** Present while its own members serve although they lag, with the limit for that. */
      readonly lagging?: { readonly maxSessions: number };
    }
  /** Clients wait: this may change by itself soon. */
  | { readonly kind: 'hold'; readonly cause: HoldCause }
  /** Clients are refused: every member gave a definite no. */
  | { readonly kind: 'closed' };

export interface PoolDecision {
  readonly route: Route;
  /** The standing of every known member, in the snapshot's order. */
  readonly standings: Standings;
  /** Where the live sessions of each member are. Another address is another server. */
  readonly addresses: ReadonlyMap<MemberName, Address>;
  /** Members of the newest document that are not used, as the snapshot has them. */
  readonly refused: readonly MemberRefusal[];
}

export interface RoutingTable {
  readonly decidedAt: Instant;
  /** Until then (exclusive) the same snapshot would decide the same. */
  readonly validUntil: Instant;
  readonly pools: ReadonlyMap<PoolName, PoolDecision>;
  /** True once every member that was known first has been asked. Nothing is routed before (G13). */
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

/** Whether an open route leads to the same servers as the route before it, in the same order. */
export function hasSameTargets(before: Route | undefined, { targets }: OpenRoute): boolean {
  if (before?.kind !== 'open' || before.targets.length !== targets.length) return false;
  return before.targets.every((target, index) => {
    const other = targets[index];
    return target.member === other?.member && isSameAddress(target.address, other.address);
  });
}

const PLANNED: readonly string[] = ['drained', 'switchover', 'restart'] satisfies readonly HoldCause[];

/** Clients wait because an operator wants it. */
export function isPlanned({ kind, cause = '' }: { readonly kind: string; readonly cause?: string }): boolean {
  return kind === 'hold' && PLANNED.includes(cause);
}
