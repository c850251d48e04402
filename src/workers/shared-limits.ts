// The use by each worker of the limits that all workers share (sessions, handshakes, held clients, sessions per
// address). Each worker is sent the sum of all other workers. Of client addresses only changes are sent.
import { NO_TALLY, sumOfTallies, type Tally } from '../reports/tally.ts';

/** The whole tally of one sender. Its reports carry only the addresses whose number changed. */
export class LastReport {
  readonly #byAddress = new Map<string, number>();
  #tally: Tally = NO_TALLY;

  update({ byAddress: changes, ...rest }: Tally): void {
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

export class SharedLimits {
  readonly #last = new Map<number, LastReport>();
  readonly #changed = new Set<string>();

  /** `tally` has only the addresses whose number changed since the worker's last report. */
  update(worker: number, tally: Tally): void {
    for (const address of tally.byAddress.keys()) this.#changed.add(address);
    const last = this.#last.get(worker) ?? new LastReport();
    last.update(tally);
    this.#last.set(worker, last);
  }

  /** The worker is gone. */
  remove(worker: number): void {
    for (const address of this.#last.get(worker)?.tally().byAddress.keys() ?? []) this.#changed.add(address);
    this.#last.delete(worker);
  }

  /** The sum of all other workers. */
  totalExcept(worker: number): Tally {
    return sumOfTallies(this.#others(worker));
  }

  /** The same for each of `workers`. It has only the addresses whose number changed since the last call, 0 for none. */
  changesExcept(workers: readonly number[]): ReadonlyMap<number, Tally> {
    const changed = [...this.#changed];
    this.#changed.clear();
    const changesFor = (worker: number): Tally => {
      const others = this.#others(worker);
      const count = (address: string): number =>
        others.reduce((sum, { byAddress }) => sum + (byAddress.get(address) ?? 0), 0);
      const bare = others.map((tally) => ({ ...tally, byAddress: NO_TALLY.byAddress }));
      return { ...sumOfTallies(bare), byAddress: new Map(changed.map((address) => [address, count(address)])) };
    };
    return new Map(workers.map((worker) => [worker, changesFor(worker)]));
  }

  #others(worker: number): readonly Tally[] {
    return [...this.#last].filter(([other]) => other !== worker).map(([, last]) => last.tally());
  }
}
