// Members that are about to take writes: a member under promotion, or a primary that restarts in place. Only the
// member's own API reports that moment, so this member is probed more often for a short time.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { RoutingPolicy } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { Standing } from '../core/standing.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { MemberStatus } from '../model/member-status.ts';

/** The urgent interval is divided by this. */
const DIVISOR = 4;
/** Longer than an ordinary promotion or start. Milliseconds. */
const FOR_MS = 2_000;

type Cause = 'promotion' | 'primary_starting';

export class ImminentPrimary {
  #since: ReadonlyMap<MemberName, Instant> = new Map();

  /** Reads a new table and its snapshot. Returns why a member is about to take writes; undefined when no member is. */
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

  /** The probe interval of the member; `usualMs` for a member that is not about to take writes. Milliseconds. */
  intervalMs(member: MemberName, policy: RoutingPolicy, usualMs: number, now: Instant): number {
    const since = this.#since.get(member);
    if (since === undefined || now - since >= FOR_MS) return usualMs;
    return Math.min(usualMs, policy.probe.urgent.intervalMs / DIVISOR);
  }
}

function causeOf({ why }: Standing, status: MemberStatus | undefined): Cause | undefined {
  if (why.code === 'promoting') return 'promotion';
  const isStarting = status?.role === 'primary' && status.state === 'starting';
  return why.code === 'not_running' && isStarting ? 'primary_starting' : undefined;
}
