// Which pools take writes, and the member that serves them.
import type { MemberName } from '../model/member.ts';
import type { PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import { openRoute, type RoutingTable } from './routing-table.ts';

export interface PoliciesAndTable {
  readonly policy: Pick<RoutingPolicy, 'pools'>;
  readonly table: RoutingTable;
}

/** The member that serves every exclusive pool now. */
export function openPrimary({ policy, table }: PoliciesAndTable): MemberName | undefined {
  const names = primaryPools(policy).map(({ name }) => openRoute(table, name)?.targets[0].member);
  const [first] = names;
  return names.every((name) => name === first) ? first : undefined;
}

export function primaryPools({ pools }: Pick<RoutingPolicy, 'pools'>): readonly PoolPolicy[] {
  return pools.filter(isOfLeader);
}

/** Its one member holds the leader lock. */
export function isOfLeader({ exclusive, check }: PoolPolicy): boolean {
  return exclusive && (check.family === 'primary' || check.family === 'leader');
}

/** Its one member is a primary. That of a check for the leader may lead a standby cluster. */
export function isOfPrimary({ exclusive, check }: PoolPolicy): boolean {
  return exclusive && check.family === 'primary';
}
