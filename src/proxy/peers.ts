// The other processes that serve the same ports beside this one, as far as this room has to know of them. What they have is known by
// their newest words, so a bound over all of them is kept within what each lets in meanwhile.
import type { PoolName } from '../model/policy.ts';
import { NO_TALLY } from '../reports/tally.ts';
import type { Tally } from '../reports/tally.ts';

/** What became of a cancel request at the other processes. */
export type CancelOutcome =
  /** None of them has the session. */
  | { readonly kind: 'unknown' }
  /** It is over. `problem`: why it reached nobody. */
  | { readonly kind: 'done'; readonly problem?: string | undefined };

export interface Peers {
  /** How many share what is bounded by a rate, this one included. */
  readonly processes: number;
  /** Session ids are counted from behind this, so that no two of all processes are the same. */
  readonly lastId: number;
  /** What the others have, summed up. */
  readonly others: () => Tally;
  /** Something changed in what this one has. Often: must cost next to nothing. */
  readonly onChange: () => void;
  /**
   * Has the process pass it on whose session has the request's key. Settles when that is over, within a bound; never
   * rejects.
   */
  readonly passOnCancel: (packet: Uint8Array, pool: PoolName) => Promise<CancelOutcome>;
}

export const NO_PEERS: Peers = {
  processes: 1,
  lastId: 0,
  others: () => NO_TALLY,
  onChange: () => {},
  passOnCancel: () => Promise.resolve({ kind: 'unknown' }),
};
