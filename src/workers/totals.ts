// The counts of all workers as one: the sum of what each last told, and of those that ended what they had counted until then. Totals
// never go back, whoever dies; over all pools accepted = closed + live, always.
import type { PoolCounts } from '../reports/counts.ts';
import type { PoolName } from '../model/policy.ts';
import { sumOfMaps } from '../reports/tally.ts';

type Counts = ReadonlyMap<PoolName, PoolCounts>;

export class Totals {
  readonly #told = new Map<number, Counts>();
  #ended: Counts = new Map();

  tell(worker: number, counts: Counts): void {
    this.#told.set(worker, counts);
  }

  /** Its live sessions are closed. Returns how many there were. */
  forget(worker: number): number {
    const last = this.#told.get(worker) ?? new Map();
    this.#told.delete(worker);
    this.#ended = sumOfCounts([this.#ended, new Map([...last].map(([pool, counts]) => [pool, afterTheEnd(counts)]))]);
    return liveOf(last);
  }

  sum(): Counts {
    return sumOfCounts([this.#ended, ...this.#told.values()]);
  }

  /** Live sessions of one worker. */
  live(worker: number): number {
    return liveOf(this.#told.get(worker) ?? new Map());
  }
}

function liveOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, { states }) => sum + liveIn(states), 0);
}

function liveIn(states: PoolCounts['states']): number {
  return Object.values(states).reduce((sum, count) => sum + count, 0);
}

function afterTheEnd({ states, accepted, closed, toBackendBytes, toClientBytes }: PoolCounts): PoolCounts {
  return {
    states: NO_STATES,
    members: new Map(),
    fallbackSessions: 0,
    accepted,
    closed: closed + liveIn(states),
    toBackendBytes,
    toClientBytes,
  };
}

const NO_STATES: PoolCounts['states'] = { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 };

export function sumOfCounts(all: readonly Counts[]): Counts {
  const names = new Set(all.flatMap((counts) => [...counts.keys()]));
  return new Map(
    [...names].map((name) => [
      name,
      sumOfPool(all.map((counts) => counts.get(name)).filter((one) => one !== undefined)),
    ]),
  );
}

function sumOfPool(pools: readonly PoolCounts[]): PoolCounts {
  const total = (count: (one: PoolCounts) => number): number => pools.reduce((sum, one) => sum + count(one), 0);
  const since = pools.flatMap(({ degradedSince }) => degradedSince ?? []);
  const ramping = new Map(pools.flatMap((one) => [...(one.ramping ?? [])]));
  return {
    states: {
      startup: total(({ states }) => states.startup),
      holding: total(({ states }) => states.holding),
      dialing: total(({ states }) => states.dialing),
      relaying: total(({ states }) => states.relaying),
      closing: total(({ states }) => states.closing),
    },
    members: sumOfMaps(pools.map(({ members }) => members)),
    fallbackSessions: total(({ fallbackSessions }) => fallbackSessions),
    ...(ramping.size === 0 ? {} : { ramping }),
    ...(since.length === 0 ? {} : { degradedSince: Math.min(...since) }),
    accepted: total(({ accepted }) => accepted),
    closed: total(({ closed }) => closed),
    toBackendBytes: total(({ toBackendBytes }) => toBackendBytes),
    toClientBytes: total(({ toClientBytes }) => toClientBytes),
  };
}
