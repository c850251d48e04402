// What one process has of that which is bounded for all of them: several that serve the same ports keep the bounds together by telling
// each other. Plain data and sums.
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';

export interface PoolTally {
  /** Sessions that came while the pool lived on another pool's members; while every member lagged. */
  readonly fallback: number;
  readonly lagging: number;
  /** Dialing and relaying sessions by member; absent: none. */
  readonly members: ReadonlyMap<MemberName, number>;
}

export interface Tally {
  /** Accepted clients that have a session's slot. */
  readonly sessions: number;
  /** Clients that have not said yet what they want. */
  readonly starting: number;
  /** Clients that wait for a route. */
  readonly held: number;
  /** Sessions by their client's address, without its port; absent or 0: none. */
  readonly byAddress: ReadonlyMap<string, number>;
  readonly pools: ReadonlyMap<PoolName, PoolTally>;
}

export const NO_TALLY: Tally = { sessions: 0, starting: 0, held: 0, byAddress: new Map(), pools: new Map() };

export function sumOfTallies(tallies: readonly Tally[]): Tally {
  const total = (count: (tally: Tally) => number): number => tallies.reduce((sum, one) => sum + count(one), 0);
  const names = new Set(tallies.flatMap(({ pools }) => [...pools.keys()]));
  const pools = [...names].map((name) => [name, sumOfPools(tallies.map((tally) => tally.pools.get(name)))] as const);
  return {
    sessions: total(({ sessions }) => sessions),
    starting: total(({ starting }) => starting),
    held: total(({ held }) => held),
    byAddress: sumOfMaps(tallies.map(({ byAddress }) => byAddress)),
    pools: new Map(pools),
  };
}

/** Key by key. */
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
    fallback: there.reduce((sum, { fallback }) => sum + fallback, 0),
    lagging: there.reduce((sum, { lagging }) => sum + lagging, 0),
    members: sumOfMaps(there.map(({ members }) => members)),
  };
}
