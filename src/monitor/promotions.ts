// Who is being promoted, and since when we know. The moment in which PostgreSQL begins to take writes is near then, and only its own
// API tells of it: this one member is asked more often, for a short time.
import type { Instant } from '../core/instant.ts';
import type { MemberName } from '../core/member.ts';
import type { RoutingPolicy } from '../core/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';

/** A quarter of the urgent interval, and so long: an ordinary promotion takes less. Milliseconds. */
const PARTS = 4;
const FOR_MS = 2_000;

export class Promotions {
  #since: ReadonlyMap<MemberName, Instant> = new Map();

  /** Reads a new table. True while somebody is being promoted. */
  read(policy: RoutingPolicy, table: RoutingTable): boolean {
    const promoting = policy.pools
      .filter(({ exclusive }) => exclusive)
      .flatMap(({ name }) => [...(table.pools.get(name)?.standings ?? [])])
      .filter(([, standing]) => standing.why.code === 'promoting');
    this.#since = new Map(promoting.map(([member]) => [member, this.#since.get(member) ?? table.decidedAt]));
    return promoting.length > 0;
  }

  /** From one round's start to the next one's, where it would be `usualMs` otherwise. Milliseconds. */
  intervalMs(member: MemberName, policy: RoutingPolicy, usualMs: number, now: Instant): number {
    const since = this.#since.get(member);
    if (since === undefined || now - since >= FOR_MS) return usualMs;
    return Math.min(usualMs, policy.probe.urgent.intervalMs / PARTS);
  }
}
