// The consequences for live sessions when one table follows another. They are a diff: applying it twice changes
// nothing, and a lost event cannot lose an eviction.
import { isOperation, type EvictionCause } from '../model/close-reason.ts';
import { isSameAddress, type Address, type MemberName } from '../model/member.ts';
import { isHarder, type LeaveMode, type PoolName, type PoolPolicy, type RoutingPolicy } from '../model/policy.ts';
import type { PoolDecision, Route, RoutingTable } from './routing-table.ts';
import { leave, leaveMode, type Leave, type Standing } from './standing.ts';

/** For the sessions of the pool on `member` at `address`. Mode `keep` changes nothing and is logged. */
export interface Action extends Pick<Leave, 'cause' | 'why'> {
  readonly kind: 'evict';
  readonly pool: PoolName;
  readonly member: MemberName;
  readonly address: Address;
  readonly mode: LeaveMode;
  /** The deadline of a drain for an operation, from its beginning. Absent: the pool's. Milliseconds. */
  readonly limitMs?: number;
  /** Sessions that cannot move stay. Absent: they end. */
  readonly keepsPinned?: true;
  /** A drain begins after this time, if the table still demands it. Milliseconds. */
  readonly afterMs: number;
}

const REMOVED = leave('removed', { code: 'never_answered' });

/**
 * For the sessions at the old address of a member. If its host was silent, nobody is there: another address ends no
 * silence. `next`: its address now, if it has one.
 */
function movedAway({ exclusive }: PoolPolicy, { why: { evidence } }: Standing, next: Address | undefined): Leave {
  if (next === undefined || exclusive || evidence?.isHostSilent !== true) return REMOVED;
  const why = { code: 'vanished', since: evidence.silentSince, detail: 'it has another address now' } as const;
  return { ...leave('silent', why), mode: 'close' };
}

type LeaveTerms = Pick<Action, 'cause' | 'mode' | 'limitMs' | 'keepsPinned' | 'why'>;

/** Sessions never move to a fallback or to another lagging member: without an eligible member they stay. */
function departed(pool: PoolPolicy, route: Route | undefined, left: Leave, cause = left.cause): LeaveTerms {
  const { why, limitMs } = left;
  const wanted = {
    cause,
    mode: leaveMode(pool, { ...left, cause }),
    why,
    ...(limitMs === undefined ? {} : { limitMs }),
  };
  return isRelocation(wanted) && !hasEligible(route) ? { ...wanted, mode: 'keep' } : wanted;
}

const RELOCATIONS: readonly EvictionCause[] = ['lagging', 'check_failed', 'old_timeline', 'fallback_over'];

/** The member could still serve these sessions. They leave because another member serves them better. */
function isRelocation({ cause, mode, why }: LeaveTerms): boolean {
  if (mode === 'close' || mode === 'keep') return false;
  const isPrimaryNow = why.code === 'exclusive_elsewhere' || why.code === 'fallback';
  return RELOCATIONS.includes(cause) || (cause === 'promoted' && isPrimaryNow);
}

function hasEligible(route: Route | undefined): boolean {
  if (route?.kind !== 'open' || route.fallback !== undefined || route.lagging !== undefined) return false;
  return route.targets.some(({ isSuspect }) => isSuspect !== true);
}

/** A member that was the pool's own and is its fallback now was promoted. */
function causeOf(before: Standing, after: Leave): EvictionCause {
  const wasOwn = before.kind !== 'leave' && before.why.code !== 'fallback';
  return wasOwn && after.cause === 'fallback_over' ? 'promoted' : after.cause;
}

/**
 * A member that has left already leaves again only for a harder mode: for example kept for its lag, then found dead. An
 * operation that begins or ends replaces what was planned before.
 */
function departure(
  pool: PoolPolicy,
  member: MemberName,
  previous: PoolDecision,
  next: PoolDecision | undefined,
): LeaveTerms | undefined {
  const before = previous.standings.get(member);
  if (before === undefined) return undefined;
  const address = next?.addresses.get(member);
  const isMoved = !isSameAddress(previous.addresses.get(member), address);
  const after = isMoved ? movedAway(pool, before, address) : next?.standings.get(member);
  if (after?.kind !== 'leave') return undefined;
  const left = departed(pool, next?.route, after, causeOf(before, after));
  if (before.kind !== 'leave') return left;
  if (isOperation(before.cause) !== isOperation(after.cause)) return left;
  const known = departed(pool, previous.route, before);
  return isHarder(left.mode, known.mode) ? left : undefined;
}

/**
 * A switchover that the cluster has scheduled is due: the primary will end all of its sessions. The ones that can move
 * leave before.
 */
function departureBeforeSchedule(
  member: MemberName,
  previous: PoolDecision,
  next: PoolDecision | undefined,
): LeaveTerms | undefined {
  const standing = next?.standings.get(member);
  if (standing === undefined || !isDue(standing) || isDue(previous.standings.get(member))) return undefined;
  return { cause: 'switchover', mode: 'drain_idle', keepsPinned: true, why: standing.why };
}

function isDue(standing: Standing | undefined): boolean {
  return standing?.kind === 'keep' && standing.why.code === 'switchover_due';
}

/** In the order of the policy's pools. `planActions(policy, t, t)` is empty. */
export function planActions(policy: RoutingPolicy, previous: RoutingTable, next: RoutingTable): readonly Action[] {
  const actions: Action[] = [];
  for (const pool of policy.pools) {
    const before = previous.pools.get(pool.name);
    if (before === undefined) continue;
    for (const [member, address] of before.addresses) {
      const after = next.pools.get(pool.name);
      const scheduled = policy.moves && departureBeforeSchedule(member, before, after);
      const left = departure(pool, member, before, after) ?? scheduled;
      if (left === undefined) continue;
      const afterMs = isRelocation(left) && left.cause !== 'promoted' ? pool.relocateAfterMs : 0;
      actions.push({ kind: 'evict', pool: pool.name, member, address, afterMs, ...left });
    }
  }
  return actions;
}

/** The table no longer demands the action: the member is back, or no other member is eligible any more. */
export function isOver(action: Action, table: RoutingTable): boolean {
  const { pool, member, address } = action;
  const decision = table.pools.get(pool);
  const standing = decision?.standings.get(member);
  const isThere = isSameAddress(decision?.addresses.get(member), address);
  if (action.keepsPinned === true) return !isThere || !isDue(standing);
  if (isOperation(action.cause) && standing?.kind === 'leave' && !isOperation(standing.cause)) return true;
  if (isThere && standing !== undefined && standing.kind !== 'leave') return true;
  return isRelocation(action) && !hasEligible(decision?.route);
}
