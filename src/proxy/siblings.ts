// The other processes of this Pointsman, which serve the same ports, as far as the proxy has to know of them. Their
// numbers come from their latest reports. A limit over all processes can therefore be exceeded by the clients that each
// process accepts between two reports.
import type { PoolName } from '../model/policy.ts';
import { NO_TALLY, type Tally } from '../reports/tally.ts';

/** The outcome of a cancel request at the other processes. */
export type CancelOutcome =
  /** No process has the session. */
  | { readonly kind: 'unknown' }
  /** It is over. `problem`: why it reached no server. */
  | { readonly kind: 'done'; readonly problem?: string | undefined };

export interface Siblings {
  /** The number of processes that share a rate, this one included. */
  readonly processes: number;
  /** The ids of sessions begin after this one, so that they differ between processes. */
  readonly lastId: number;
  /** The sum of the other processes' numbers. */
  readonly others: () => Tally;
  /** This process's numbers have changed. Called often: it must be cheap. */
  readonly onChange: () => void;
  /**
   * Has the request passed on by the process whose session has its key. Settles within a time limit when that is over;
   * never rejects.
   */
  readonly passOnCancel: (packet: Uint8Array, pool: PoolName) => Promise<CancelOutcome>;
  /** Whether another process has a session with that key. Settles within a time limit, never rejects. */
  readonly knowsCancel: (packet: Uint8Array) => Promise<boolean>;
}

export const NO_SIBLINGS: Siblings = {
  processes: 1,
  lastId: 0,
  others: () => NO_TALLY,
  onChange: () => {},
  passOnCancel: () => Promise.resolve({ kind: 'unknown' }),
  knowsCancel: () => Promise.resolve(false),
};
