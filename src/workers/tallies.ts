// What each worker has, by its newest word, and what that makes for each of the others: the sum of all but its own. Of the clients'
// addresses only changes travel.
import { NO_TALLY, sumOfTallies } from '../reports/tally.ts';
import type { Tally } from '../reports/tally.ts';

/** A whole tally, from words in which the addresses are only those that changed. */
export class Told {
  readonly #byAddress = new Map<string, number>();
  #tally: Tally = NO_TALLY;

  tell({ byAddress: changes, ...rest }: Tally): void {
    for (const [address, count] of changes) {
      if (count === 0) this.#byAddress.delete(address);
      else this.#byAddress.set(address, count);
    }
    this.#tally = { ...rest, byAddress: this.#byAddress };
  }

  tally(): Tally {
    return this.#tally;
  }
}

export class Tallies {
  readonly #told = new Map<number, Told>();
  readonly #changed = new Set<string>();

  /** Of its addresses those that changed since its last word. */
  tell(worker: number, tally: Tally): void {
    for (const address of tally.byAddress.keys()) this.#changed.add(address);
    const told = this.#told.get(worker) ?? new Told();
    told.tell(tally);
    this.#told.set(worker, told);
  }

  /** It is gone, and so is what it had. */
  forget(worker: number): void {
    for (const address of this.#told.get(worker)?.tally().byAddress.keys() ?? []) this.#changed.add(address);
    this.#told.delete(worker);
  }

  /** All that the others have. */
  besides(worker: number): Tally {
    return sumOfTallies(this.#others(worker));
  }

  /** For each of `workers` what the others have, of addresses those that changed since the last call, 0 for none. */
  news(workers: readonly number[]): ReadonlyMap<number, Tally> {
    const changed = [...this.#changed];
    this.#changed.clear();
    const newsFor = (worker: number): Tally => {
      const others = this.#others(worker);
      const count = (address: string): number =>
        others.reduce((sum, { byAddress }) => sum + (byAddress.get(address) ?? 0), 0);
      const bare = others.map((tally) => ({ ...tally, byAddress: NO_TALLY.byAddress }));
      return { ...sumOfTallies(bare), byAddress: new Map(changed.map((address) => [address, count(address)])) };
    };
    return new Map(workers.map((worker) => [worker, newsFor(worker)]));
  }

  #others(worker: number): readonly Tally[] {
    return [...this.#told].filter(([other]) => other !== worker).map(([, told]) => told.tally());
  }
}
