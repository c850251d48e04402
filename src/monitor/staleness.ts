// Whether the open member of an exclusive pool needs another probe before a new session goes there. Pure.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName, RoutingPolicy } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';

export interface StalenessInputs {
  readonly policy: RoutingPolicy;
  readonly table: RoutingTable;
  readonly snapshot: Snapshot;
  /** When the member's server last ended a session by itself. */
  readonly doubtedAt: ReadonlyMap<MemberName, Instant>;
  readonly now: Instant;
}

/**
 * The member whose last yes is older than one probe interval or than a doubt. A vouched member is known to be silent.
 */
export function staleMember(
  name: PoolName,
  { policy, table, snapshot, doubtedAt, now }: StalenessInputs,
): MemberName | undefined {
  const pool = policy.pools.find((candidate) => candidate.name === name && candidate.exclusive);
  const route = table.pools.get(name)?.route;
  if (pool === undefined || route?.kind !== 'open') return undefined;
  const [{ member }] = route.targets;
  const record = snapshot.members.get(member);
  if (record === undefined || record.vouch !== undefined) return undefined;
  const positiveAt = record.checks.get(pool.check.text)?.positiveAt ?? -Infinity;
  const oldest = Math.max(now - policy.probe.intervalMs, doubtedAt.get(member) ?? -Infinity);
  return positiveAt > oldest ? undefined : member;
}
