// What has to happen to live sessions when one table follows another: a diff, so applying it twice changes nothing
// and a lost event cannot lose an eviction.
import type { LeaveCause } from './close-reason.ts';
import { isSameAddress } from './member.ts';
import type { Address, MemberName } from './member.ts';
import { LEAVE_FORCE } from './policy.ts';
import type { LeaveMode, PoolName, PoolPolicy, RoutingPolicy } from './policy.ts';
import type { PoolDecision, RoutingTable, Standing, Why } from './routing-table.ts';

/** Sessions that the pool has on `member` at `address` are to be dealt with. `keep` is told too: it is logged. */
export interface Action {
  readonly kind: 'evict';
  readonly pool: PoolName;
  readonly member: MemberName;
  readonly address: Address;
  readonly cause: LeaveCause;
  readonly mode: LeaveMode;
  readonly why: Why;
}

const REMOVED: Standing = { kind: 'leave', cause: 'removed', why: { code: 'never-answered' } };

/** A member that is out already is told again only what asks more of its sessions: kept for its lag, then found dead. */
function departure(
  pool: PoolPolicy,
  member: MemberName,
  previous: PoolDecision,
  next: PoolDecision | undefined,
): Standing | undefined {
  const before = previous.standings.get(member);
  if (before === undefined) return undefined;
  const isMoved = !isSameAddress(previous.addresses.get(member), next?.addresses.get(member));
  const after = isMoved ? REMOVED : next?.standings.get(member);
  if (after?.kind !== 'leave') return undefined;
  const isNews =
    before.kind !== 'leave' || LEAVE_FORCE[pool.onLeave[after.cause]] > LEAVE_FORCE[pool.onLeave[before.cause]];
  return isNews ? after : undefined;
}

/** Actions in the order of the policy's pools. `planActions(policy, t, t)` is empty. */
export function planActions(policy: RoutingPolicy, previous: RoutingTable, next: RoutingTable): readonly Action[] {
  const actions: Action[] = [];
  for (const pool of policy.pools) {
    const before = previous.pools.get(pool.name);
    if (before === undefined) continue;
    for (const [member, address] of before.addresses) {
      const left = departure(pool, member, before, next.pools.get(pool.name));
      if (left?.kind !== 'leave') continue;
      const mode = pool.onLeave[left.cause];
      actions.push({ kind: 'evict', pool: pool.name, member, address, cause: left.cause, mode, why: left.why });
    }
  }
  return actions;
}
