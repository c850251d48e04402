// The bytes that the relays of a pool have copied. Where reads need it, they are counted by server and database, at no
// more cost for a chunk. A relay keeps its counter; no count ever vanishes.
import type { ForwardedBytes } from '../core/acknowledgements.ts';
import type { AskedServer } from '../model/causal-reads.ts';
import { addressText } from '../model/member.ts';
import { sumOf } from '../model/sums.ts';
import type { Traffic } from '../reports/counts.ts';

/** The ends of a relay. */
export interface RelayEnds {
  readonly server: AskedServer;
  /** As its client named it. Undefined: it is not known. */
  readonly database: string | undefined;
}

/** The counter of all relays with the same ends. Undefined ends: they may be any. */
export interface RelayTraffic extends Traffic, ForwardedBytes {
  readonly database: string | undefined;
  toClientBytes: number;
}

/** Clients choose the names, before they have logged in. Above this number they are not told apart. */
const MOST_COUNTERS = 1000;
/** The server cuts longer names, perhaps within a character, so two of them may be one. Bytes. */
const LONGEST_DATABASE = 59;
const ENCODER = new TextEncoder();

export class PoolTraffic {
  readonly all: RelayTraffic = { server: undefined, database: undefined, toBackendBytes: 0, toClientBytes: 0 };
  readonly #byEnds = new Map<string, RelayTraffic>();

  of({ server: { member, address }, database: named }: RelayEnds, onNew: () => void): RelayTraffic {
    const database = knownDatabase(named);
    const key = JSON.stringify([member, addressText(address), database]);
    const known = this.#byEnds.get(key);
    if (known !== undefined) return known;
    if (this.#byEnds.size >= MOST_COUNTERS) return this.all;
    const counter: RelayTraffic = { server: { member, address }, database, toBackendBytes: 0, toClientBytes: 0 };
    this.#byEnds.set(key, counter);
    onNew();
    return counter;
  }

  counters(): readonly RelayTraffic[] {
    return [this.all, ...this.#byEnds.values()];
  }

  sum(): Traffic {
    const counters = this.counters();
    return {
      toBackendBytes: sumOf(counters, ({ toBackendBytes }) => toBackendBytes),
      toClientBytes: sumOf(counters, ({ toClientBytes }) => toClientBytes),
    };
  }
}

/** Undefined: the name may stand for several databases, or another one for the same. */
export function knownDatabase(name: string | undefined): string | undefined {
  return name === undefined || ENCODER.encode(name).length > LONGEST_DATABASE ? undefined : name;
}
