// Asks members again, so that each has ended a probe that began after an instant.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';

export interface Asking {
  readonly table: RoutingTable;
  readonly snapshot: () => Snapshot;
  /** Resolves when a round that was under way, or else one begun now, has ended. */
  readonly ask: (member: MemberName) => Promise<void> | undefined;
}

/** Of the members that may have sessions of the pool. Resolves whatever they answered. Never rejects. */
export async function askSince(pool: PoolName, since: Instant, { table, snapshot, ask }: Asking): Promise<void> {
  const wasAsked = (name: MemberName): boolean => (snapshot().members.get(name)?.probedAt ?? -Infinity) >= since;
  const askOne = async (name: MemberName): Promise<void> => {
    if (!wasAsked(name)) await ask(name);
    // A round that was under way may have begun before `since`: a second one has not.
    if (!wasAsked(name)) await ask(name);
  };
  const standings = [...(table.pools.get(pool)?.standings ?? [])];
  const members = standings.filter(([, { kind }]) => kind !== 'leave');
  await Promise.all(members.map(([name]) => askOne(name)));
}
