// Since when each member takes sessions of a pool, so that one which opens after the others begins with little (slow
// start). Remembered here and not in the table: a decision follows from the snapshot alone and stays the same until it
// ends, and what a newcomer is spared is the rush of this process's sessions. Who was there when a pool was first
// decided is no newcomer.
import { rampedShare } from '../../core/balance.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { isSameAddress } from '../../model/member.ts';
import type { Address, MemberName } from '../../model/member.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { PoolDecision, RoutingTable } from '../../core/routing-table.ts';

interface OpenedAt {
  readonly address: Address;
  /** -Infinity: it was there first. */
  readonly at: Instant;
}

type Ramped = Pick<PoolPolicy, 'name' | 'slowStartMs'>;

type OpenMembers = ReadonlyMap<MemberName, OpenedAt>;

export class SlowStart {
  readonly #clock: Clock;
  /** Of pools whose every member was asked. */
  #pools: ReadonlyMap<PoolName, OpenMembers> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tableChanged({ pools, complete }: RoutingTable): void {
    const now = this.#clock.now();
    const next = new Map<PoolName, OpenMembers>();
    for (const [pool, decision] of pools) {
      const known = this.#pools.get(pool);
      if (known === undefined && !(complete && isAsked(decision))) continue;
      next.set(pool, openMembers(decision, known, now));
    }
    this.#pools = next;
  }

  /** The part of its weight that the member has by now. */
  share({ name, slowStartMs }: Ramped, { member }: { readonly member: MemberName }): number {
    const arrival = this.#pools.get(name)?.get(member);
    return arrival === undefined ? 1 : rampedShare(this.#clock.now() - arrival.at, slowStartMs);
  }

  /** The members of the pool that have not their whole part yet. */
  ramping(pool: Ramped): ReadonlyMap<MemberName, number> {
    const members = [...(this.#pools.get(pool.name)?.keys() ?? [])];
    const shares = members.map((member) => [member, this.share(pool, { member })] as const);
    return new Map(shares.filter(([, share]) => share < 1));
  }
}

function openMembers({ route }: PoolDecision, known: OpenMembers | undefined, now: Instant): OpenMembers {
  const there = new Map<MemberName, OpenedAt>();
  for (const { member, address } of route.kind === 'open' ? route.targets : []) {
    const before = known?.get(member);
    if (isSameAddress(before?.address, address) && before !== undefined) there.set(member, before);
    else there.set(member, { address, at: known === undefined ? -Infinity : now });
  }
  return there;
}

function isAsked({ standings }: PoolDecision): boolean {
  return [...standings.values()].every(({ why }) => why.code !== 'never_answered');
}
