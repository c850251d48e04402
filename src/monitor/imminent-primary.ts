// The members that are about to take writes: one that is being promoted, or a primary that starts again in place. Only
// the member's own API tells when that moment has come, so this one member is probed more often, for a short time.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import type { RoutingTable, Standing } from '../core/routing-table.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { MemberStatus } from '../model/member-status.ts';

/** Part of the urgent interval. */
const PARTS = 4;
/** An ordinary promotion or start takes less. Milliseconds. */
const FOR_MS = 2_000;

type Cause = 'promotion' | 'primary_starting';

export class ImminentPrimary {
  #since: ReadonlyMap<MemberName, Instant> = new Map();

  /**
   * Reads a new table and the snapshot behind it. Says why a member is about to take writes; undefined when none is.
   */
  read(policy: RoutingPolicy, table: RoutingTable, snapshot: Snapshot): Cause | undefined {
    const imminent = policy.pools
      .filter(({ exclusive }) => exclusive)
      .flatMap(({ name }) => [...(table.pools.get(name)?.standings ?? [])])
      .flatMap(([member, standing]) => {
        const cause = causeOf(standing, snapshot.members.get(member)?.status);
        return cause === undefined ? [] : [{ member, cause }];
      });
    this.#since = new Map(imminent.map(({ member }) => [member, this.#since.get(member) ?? table.decidedAt]));
    return imminent[0]?.cause;
  }

  /** From the start of one round to the start of the next, where it would be `usualMs` otherwise. Milliseconds. */
  intervalMs(member: MemberName, policy: RoutingPolicy, usualMs: number, now: Instant): number {
    const since = this.#since.get(member);
    if (since === undefined || now - since >= FOR_MS) return usualMs;
    return Math.min(usualMs, policy.probe.urgent.intervalMs / PARTS);
  }
}

function causeOf({ why }: Standing, status: MemberStatus | undefined): Cause | undefined {
  if (why.code === 'promoting') return 'promotion';
  const isStarting = status?.role === 'primary' && status.state === 'starting';
  return why.code === 'not_running' && isStarting ? 'primary_starting' : undefined;
}
