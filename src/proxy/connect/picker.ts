// Picks the member of the next session. Beside the routing table a pick needs the numbers of live sessions, the credits
// of the weighted rotation, the latency that was observed, and slow start: a member that opens after the others begins
// with a small part of its weight. Slow start is kept here and not in the table, because a decision follows from the
// snapshot alone and stays the same until it expires. It protects the member from a rush of this process's sessions.
import { pickTarget, rampedShare, type Credits } from '../../core/balance.ts';
import type { PoolDecision, RoutingTable, Target } from '../../core/routing-table.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { isSameAddress, type Address, type MemberName } from '../../model/member.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import { LoginRefusals, type LoginRefusalsOptions } from './login-refusals.ts';
import { ObservedLatency } from './observed-latency.ts';
import type { SessionRegistry } from '../session-registry.ts';

export interface PickerOptions {
  readonly registry: SessionRegistry;
  readonly drains: LoginRefusalsOptions['drains'];
  readonly onEvent: LoginRefusalsOptions['onEvent'];
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

export class Picker {
  readonly refusals: LoginRefusals;
  readonly latency: ObservedLatency;
  readonly #options: PickerOptions;
  readonly #slowStart: SlowStart;
  readonly #credits = new Map<PoolName, Credits>();

  constructor(options: PickerOptions) {
    this.#options = options;
    this.refusals = new LoginRefusals(options);
    this.latency = new ObservedLatency(options.clock);
    this.#slowStart = new SlowStart(options.clock);
  }

  tableChanged(table: RoutingTable): void {
    this.#slowStart.tableChanged(table);
    this.latency.tableChanged(table);
  }

  /** The members that do not have their full weight yet, with the part that they have. */
  ramping(pool: PoolPolicy): ReadonlyMap<MemberName, number> {
    return this.#slowStart.ramping(pool);
  }

  /** The part of the pool's new sessions that the target gets, relative to the others. Above 0. */
  weightOf(pool: PoolPolicy, target: Target): number {
    return (target.weight ?? 1) * this.#slowStart.share(pool, target) * this.latency.share(pool, target.member);
  }

  /** Since when the member takes sessions of the pool. -Infinity: since the pool's first decision. */
  openedAt(pool: PoolName, member: MemberName): Instant {
    return this.#slowStart.openedAt(pool, member);
  }

  /** `clientAddress`: without the port. */
  pick(pool: PoolPolicy, targets: readonly [Target, ...Target[]], clientAddress: string): Target {
    if (targets.length === 1) return targets[0];
    const { refusals } = this;
    const { registry, random } = this.#options;
    const [first, ...rest] = targets.filter(({ member }) => !refusals.isAvoided(member));
    const { target, credits } = pickTarget(pool.balance, first === undefined ? targets : [first, ...rest], {
      sessionsOn: (member) => registry.sessionsOn(pool.name, member) + refusals.load(pool.name, member),
      weightOf: (one) => this.weightOf(pool, one),
      random,
      credits: this.#credits.get(pool.name) ?? new Map(),
      clientAddress,
    });
    this.#credits.set(pool.name, credits);
    return target;
  }
}

interface OpenMember {
  readonly address: Address;
  /** -Infinity: open since the pool's first decision. */
  readonly since: Instant;
}

type SlowStartPolicy = Pick<PoolPolicy, 'name' | 'slowStartMs'>;

type OpenMembers = ReadonlyMap<MemberName, OpenMember>;

/**
 * Since when each member takes sessions of a pool. Members that were open at a pool's first decision have their full
 * weight.
 */
export class SlowStart {
  readonly #clock: Clock;
  /** Pools that were decided with every member probed. */
  #pools: ReadonlyMap<PoolName, OpenMembers> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tableChanged({ pools, complete }: RoutingTable): void {
    const now = this.#clock.now();
    const next = new Map<PoolName, OpenMembers>();
    for (const [pool, decision] of pools) {
      const known = this.#pools.get(pool);
      if (known === undefined && !(complete && isProbed(decision))) continue;
      next.set(pool, openMembers(decision, known, now));
    }
    this.#pools = next;
  }

  /** The part of its weight that the member has by now, at most 1. */
  share({ name, slowStartMs }: SlowStartPolicy, { member }: { readonly member: MemberName }): number {
    return rampedShare(this.#clock.now() - this.openedAt(name, member), slowStartMs);
  }

  openedAt(pool: PoolName, member: MemberName): Instant {
    return this.#pools.get(pool)?.get(member)?.since ?? -Infinity;
  }

  ramping(pool: SlowStartPolicy): ReadonlyMap<MemberName, number> {
    const members = [...(this.#pools.get(pool.name)?.keys() ?? [])];
    const shares = members.map((member) => [member, this.share(pool, { member })] as const);
    return new Map(shares.filter(([, share]) => share < 1));
  }
}

function openMembers({ route }: PoolDecision, known: OpenMembers | undefined, now: Instant): OpenMembers {
  const open = new Map<MemberName, OpenMember>();
  for (const { member, address } of route.kind === 'open' ? route.targets : []) {
    const before = known?.get(member);
    if (isSameAddress(before?.address, address) && before !== undefined) open.set(member, before);
    else open.set(member, { address, since: known === undefined ? -Infinity : now });
  }
  return open;
}

function isProbed({ standings }: PoolDecision): boolean {
  return [...standings.values()].every(({ why }) => why.code !== 'never_answered');
}
