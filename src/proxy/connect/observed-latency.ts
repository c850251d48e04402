// Observes the members of pools with `balance: latency`, and gives the part of their weight that follows
// (core/latency.ts). Requests of sessions that can be read are observed, and logins of all.
import {
  estimatedMs,
  latencyShares,
  withObservation,
  type Estimate,
  type LatencyEstimates,
} from '../../core/latency.ts';
import { openRoute, type RoutingTable } from '../../core/routing-table.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { Latencies } from '../../reports/latency.ts';
import type { Server } from '../server.ts';

type BalancedPool = Pick<PoolPolicy, 'name' | 'balance'>;

/** The time of a reply, and when it came. */
type ReplyListener = (durationMs: number, now: Instant) => void;

const NEVER: LatencyEstimates = { requests: undefined, logins: undefined };
/** A connect that failed counts as a login of this time. Milliseconds. */
const FAILED_MS = 1_000;

export class ObservedLatency {
  readonly #clock: Clock;
  readonly #pools = new Map<PoolName, Map<MemberName, LatencyEstimates>>();
  /** The members that take sessions. */
  #open: ReadonlyMap<PoolName, readonly MemberName[]> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tableChanged(table: RoutingTable): void {
    this.#open = new Map(
      [...table.pools.keys()].map((pool) => [pool, openRoute(table, pool)?.targets.map(({ member }) => member) ?? []]),
    );
    for (const [pool, members] of this.#pools) {
      const standings = table.pools.get(pool)?.standings;
      for (const member of members.keys()) if (standings?.has(member) !== true) members.delete(member);
    }
  }

  /** For the replies to a session's requests. Undefined: nobody wants to know them. */
  listener({ name, balance }: BalancedPool, server: Server): ReplyListener | undefined {
    if (balance !== 'latency' || !('member' in server)) return undefined;
    const { member } = server;
    return (durationMs, now) => {
      const { requests, logins } = this.#observed(name, member);
      this.#set(name, member, { requests: withObservation(requests, durationMs, now), logins });
    };
  }

  login({ name, balance }: BalancedPool, member: MemberName, durationMs: number): void {
    if (balance !== 'latency') return;
    const { requests, logins } = this.#observed(name, member);
    this.#set(name, member, { requests, logins: withObservation(logins, durationMs, this.#clock.now()) });
  }

  /** The server could not be connected to, or another one was faster. */
  loginFailed(pool: BalancedPool, member: MemberName): void {
    this.login(pool, member, FAILED_MS);
  }

  /** The part of its weight that the member has. */
  share({ name, balance }: BalancedPool, member: MemberName): number {
    return balance === 'latency' ? (this.#shares(name).get(member) ?? 1) : 1;
  }

  /** Has the members that take sessions. */
  shown({ name, balance }: BalancedPool): Latencies {
    if (balance !== 'latency') return new Map();
    return new Map(
      [...this.#shares(name)].map(([member, share]) => {
        const { requests, logins } = this.#observed(name, member);
        const [requestMs, loginMs] = [requests && estimatedMs(requests), logins && estimatedMs(logins)];
        return [member, { requestMs, loginMs, at: newestOf(requests, logins), share }];
      }),
    );
  }

  #shares(pool: PoolName): ReadonlyMap<MemberName, number> {
    const members = this.#open.get(pool) ?? [];
    return latencyShares(new Map(members.map((member) => [member, this.#observed(pool, member)])), this.#clock.now());
  }

  #observed(pool: PoolName, member: MemberName): LatencyEstimates {
    return this.#pools.get(pool)?.get(member) ?? NEVER;
  }

  #set(pool: PoolName, member: MemberName, observed: LatencyEstimates): void {
    const members = this.#pools.get(pool) ?? new Map<MemberName, LatencyEstimates>();
    this.#pools.set(pool, members.set(member, observed));
  }
}

function newestOf(one: Estimate | undefined, other: Estimate | undefined): Instant | undefined {
  return one && other ? Math.max(one.at, other.at) : (one ?? other)?.at;
}
