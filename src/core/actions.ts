// What has to happen to live sessions when one table follows another: a diff, so applying it twice changes nothing
// and a lost event cannot lose an eviction.
import type { LeaveCause } from '../model/close-reason.ts';
import { isSameAddress } from '../model/member.ts';
import type { Address, MemberName } from '../model/member.ts';
import { LEAVE_FORCE } from '../model/policy.ts';
import type { LeaveMode, PoolName, PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { PoolDecision, Route, RoutingTable, Standing, Why } from './routing-table.ts';

/** Sessions that the pool has on `member` at `address` are to be dealt with. `keep` is told too: it is logged. */
export interface Action {
  readonly kind: 'evict';
  readonly pool: PoolName;
  readonly member: MemberName;
  readonly address: Address;
  readonly cause: LeaveCause;
  readonly mode: LeaveMode;
  /** A drain begins after this time, if it is still asked for then. */
  readonly afterMs: number;
  readonly why: Why;
}

const REMOVED: Standing = { kind: 'leave', cause: 'removed', why: { code: 'never_answered' } };

interface Departure {
  readonly cause: LeaveCause;
  readonly mode: LeaveMode;
  readonly why: Why;
}

/** Never towards a fallback or another member that lags: where nobody else is eligible, sessions stay. */
function departed(pool: PoolPolicy, route: Route | undefined, cause: LeaveCause, why: Why): Departure {
  const wanted = { cause, mode: pool.onLeave[cause], why };
  return isRelocation(wanted) && !hasEligible(route) ? { ...wanted, mode: 'keep' } : wanted;
}

/** The member could go on with these sessions: they drain because another one serves them better. */
function isRelocation({ cause, mode, why }: Departure): boolean {
  if (mode !== 'drain' && mode !== 'drain_idle') return false;
  const isPrimaryNow = why.code === 'exclusive_elsewhere' || why.code === 'fallback';
  return cause === 'lagging' || cause === 'fallback_over' || (cause === 'promoted' && isPrimaryNow);
}

function hasEligible(route: Route | undefined): boolean {
  if (route?.kind !== 'open' || route.fallback !== undefined || route.lagging !== undefined) return false;
  return route.targets.some(({ isSuspect }) => isSuspect !== true);
}

/** A member that was the pool's own, and stands by as its fallback now, was promoted. */
function causeOf(before: Standing, after: Extract<Standing, { kind: 'leave' }>): LeaveCause {
  const wasOwn = before.kind !== 'leave' && before.why.code !== 'fallback';
  return wasOwn && after.cause === 'fallback_over' ? 'promoted' : after.cause;
}

/** A member that is out already is told again only what asks more of its sessions: kept for its lag, then found dead. */
function departure(
  pool: PoolPolicy,
  member: MemberName,
  previous: PoolDecision,
  next: PoolDecision | undefined,
): Departure | undefined {
  const before = previous.standings.get(member);
  if (before === undefined) return undefined;
  const isMoved = !isSameAddress(previous.addresses.get(member), next?.addresses.get(member));
  const after = isMoved ? REMOVED : next?.standings.get(member);
  if (after?.kind !== 'leave') return undefined;
  const left = departed(pool, next?.route, causeOf(before, after), after.why);
  if (before.kind !== 'leave') return left;
  const known = departed(pool, previous.route, before.cause, before.why);
  return LEAVE_FORCE[left.mode] > LEAVE_FORCE[known.mode] ? left : undefined;
}

/** Actions in the order of the policy's pools. `planActions(policy, t, t)` is empty. */
export function planActions(policy: RoutingPolicy, previous: RoutingTable, next: RoutingTable): readonly Action[] {
  const actions: Action[] = [];
  for (const pool of policy.pools) {
    const before = previous.pools.get(pool.name);
    if (before === undefined) continue;
    for (const [member, address] of before.addresses) {
      const left = departure(pool, member, before, next.pools.get(pool.name));
      if (left === undefined) continue;
      const afterMs = isRelocation(left) ? pool.relocateAfterMs : 0;
      actions.push({ kind: 'evict', pool: pool.name, member, address, afterMs, ...left });
    }
  }
  return actions;
}

/** True when the table no longer asks for the action: the member has returned, or nobody else is eligible any more. */
export function isOver(action: Action, table: RoutingTable): boolean {
  const { pool, member, address } = action;
  const decision = table.pools.get(pool);
  const standing = decision?.standings.get(member);
  const isThere = isSameAddress(decision?.addresses.get(member), address);
  if (isThere && standing !== undefined && standing.kind !== 'leave') return true;
  return isRelocation(action) && !hasEligible(decision?.route);
}
