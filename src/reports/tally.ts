// One process's share of the numbers that are limited over all processes. Processes on the same ports keep the limits
// together by reporting these to each other.
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import { sumOf } from '../model/sums.ts';

export interface PoolTally {
  /** Sessions that began while the fallback served the pool, and while lagging members did. */
  readonly fallback: number;
  readonly lagging: number;
  /** Sessions that connect or relay, by member. Absent: none. */
  readonly members: ReadonlyMap<MemberName, number>;
}

export interface Tally {
  /** Accepted clients that have a slot. */
  readonly sessions: number;
  /** Clients without a complete startup message. */
  readonly starting: number;
  /** Held clients. */
  readonly held: number;
  /** Sessions by client address, without its port. Absent or 0: none. */
  readonly byAddress: ReadonlyMap<string, number>;
  readonly pools: ReadonlyMap<PoolName, PoolTally>;
}

export const NO_TALLY: Tally = { sessions: 0, starting: 0, held: 0, byAddress: new Map(), pools: new Map() };

export function sumOfTallies(tallies: readonly Tally[]): Tally {
  const names = new Set(tallies.flatMap(({ pools }) => [...pools.keys()]));
  const pools = [...names].map((name) => [name, sumOfPools(tallies.map((tally) => tally.pools.get(name)))] as const);
  return {
    sessions: sumOf(tallies, ({ sessions }) => sessions),
    starting: sumOf(tallies, ({ starting }) => starting),
    held: sumOf(tallies, ({ held }) => held),
    byAddress: sumOfMaps(tallies.map(({ byAddress }) => byAddress)),
    pools: new Map(pools),
  };
}

/** Sums the values of each key. */
export function sumOfMaps<Key>(maps: readonly ReadonlyMap<Key, number>[]): ReadonlyMap<Key, number> {
  const sums = new Map<Key, number>();
  for (const map of maps) {
    for (const [key, count] of map) sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return sums;
}

function sumOfPools(pools: readonly (PoolTally | undefined)[]): PoolTally {
  const there = pools.filter((pool) => pool !== undefined);
  return {
    fallback: sumOf(there, ({ fallback }) => fallback),
    lagging: sumOf(there, ({ lagging }) => lagging),
    members: sumOfMaps(there.map(({ members }) => members)),
  };
}
