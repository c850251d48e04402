// Fresh evidence for a session. Holds the doubts about members, and has members probed again where the evidence is too
// old for the session. Never judges an answer, owns no timer.
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { DecisionFacts } from './decider.ts';

export interface FreshnessOptions {
  readonly clock: Clock;
  readonly known: () => DecisionFacts;
  readonly table: () => RoutingTable;
  /** See Prober. Undefined: the member has left. */
  readonly probeNow: (member: MemberName, minMs: number) => Promise<void> | undefined;
}

export class Freshness {
  readonly #options: FreshnessOptions;
  /** When the member's server last ended a session by itself. */
  readonly #doubtedAt = new Map<MemberName, Instant>();

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  /** Evidence about the member from before now is void. */
  doubt(member: MemberName): void {
    this.#doubtedAt.set(member, this.#options.clock.now());
  }

  /** The member has left. */
  forget(member: MemberName): void {
    this.#doubtedAt.delete(member);
  }

  /**
   * Undefined while the open member of an exclusive pool has evidence younger than one probe interval and than any
   * doubt. Otherwise resolves after another probe of it, at most one per urgent interval. A vouched member is not
   * probed: it is known to be silent. With `since`, probes every member that may have sessions of the pool, unless a
   * probe of it began after that instant. Never rejects.
   */
  freshen(pool: PoolName, since?: Instant): Promise<void> | undefined {
    if (since !== undefined) return this.#probeSince(pool, since);
    const stale = this.#stale(pool);
    return stale === undefined ? undefined : this.#probeAgain(pool, stale);
  }

  async #probeSince(pool: PoolName, since: Instant): Promise<void> {
    const standings = [...(this.#options.table().pools.get(pool)?.standings ?? [])];
    const members = standings.filter(([, { kind }]) => kind !== 'leave');
    await Promise.all(members.map(([name]) => this.#probeOneSince(name, since)));
  }

  async #probeOneSince(member: MemberName, since: Instant): Promise<void> {
    const { known, probeNow } = this.#options;
    const wasProbed = (): boolean => (known().snapshot.members.get(member)?.probedAt ?? -Infinity) >= since;
    if (!wasProbed()) await probeNow(member, 0);
    // A round under way may have begun before `since`, a second round has not.
    if (!wasProbed()) await probeNow(member, 0);
  }

  async #probeAgain(pool: PoolName, member: MemberName): Promise<void> {
    const { known, probeNow } = this.#options;
    // Any client can cause doubts at any rate, so doubts share one probe per urgent interval.
    const minMs = known().policy.probe.urgent.intervalMs;
    await probeNow(member, minMs);
    // A round under way may have begun before the doubt, a second round has not.
    const stale = this.#stale(pool);
    if (stale !== undefined) await probeNow(stale, minMs);
  }

  /**
   * The open member of an exclusive pool, when its last yes is older than one probe interval or than a doubt. A vouched
   * member is known to be silent.
   */
  #stale(name: PoolName): MemberName | undefined {
    const { clock, known, table } = this.#options;
    const { policy, snapshot } = known();
    const pool = policy.pools.find((candidate) => candidate.name === name && candidate.exclusive);
    const route = table().pools.get(name)?.route;
    if (pool === undefined || route?.kind !== 'open') return undefined;
    const [{ member }] = route.targets;
    const record = snapshot.members.get(member);
    if (record === undefined || record.vouch !== undefined) return undefined;
    const positiveAt = record.checks.get(pool.check.text)?.positiveAt ?? -Infinity;
    const doubtedAt = this.#doubtedAt.get(member) ?? -Infinity;
    const oldest = Math.max(clock.now() - policy.probe.intervalMs, doubtedAt);
    return positiveAt > oldest ? undefined : member;
  }
}
