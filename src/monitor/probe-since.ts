// Probes members again until each has finished a probe that began after a given instant.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';

export interface ProbeSinceInputs {
  readonly table: RoutingTable;
  readonly snapshot: () => Snapshot;
  /** Resolves at the end of a round: the one under way, else one that starts now. */
  readonly probe: (member: MemberName) => Promise<void> | undefined;
}

/** Probes the members that may have sessions of the pool. Resolves whatever they answer. Never rejects. */
export async function probeSince(
  pool: PoolName,
  since: Instant,
  { table, snapshot, probe }: ProbeSinceInputs,
): Promise<void> {
  const wasProbed = (name: MemberName): boolean => (snapshot().members.get(name)?.probedAt ?? -Infinity) >= since;
  const probeOne = async (name: MemberName): Promise<void> => {
    if (!wasProbed(name)) await probe(name);
    // A round under way may have begun before `since`, a second round has not.
    if (!wasProbed(name)) await probe(name);
  };
  const standings = [...(table.pools.get(pool)?.standings ?? [])];
  const members = standings.filter(([, { kind }]) => kind !== 'leave');
  await Promise.all(members.map(([name]) => probeOne(name)));
}
