// The primary as this Pointsman routes to it, and its changes. A change is a switchover if the loss of the old primary
// was planned (planned-or-not.ts), and a failover in every other case. Pure.
import type { MemberName } from '../model/member.ts';
import type { Plan } from '../reports/events.ts';
import type { Moment } from './route-history.ts';

export const PRIMARY_CHANGES = ['failover', 'switchover'] as const;
export type PrimaryChange = (typeof PRIMARY_CHANGES)[number];

export interface PrimaryTerm {
  readonly member: MemberName;
  /** Undefined: it does not report one. */
  readonly timeline: number | undefined;
  /** It has been the primary since then, as seen from here. A loss of its route without a change does not count. */
  readonly since: Moment;
}

export interface ChangeCount {
  readonly count: number;
  readonly last: Moment | undefined;
}

export class PrimaryHistory {
  readonly #changes: Record<PrimaryChange, ChangeCount> = {
    failover: { count: 0, last: undefined },
    switchover: { count: 0, last: undefined },
  };
  #term: PrimaryTerm | undefined;

  /** The member serves every pool for writes. `lossPlan`: whether the loss of the last primary was planned. */
  serves(member: MemberName, timeline: number | undefined, moment: Moment, lossPlan: Plan | undefined): void {
    const last = this.#term;
    if (last !== undefined && last.member !== member) {
      const kind = lossPlan === 'planned' ? 'switchover' : 'failover';
      this.#changes[kind] = { count: this.#changes[kind].count + 1, last: moment };
    }
    // A promotion in place begins a term, too.
    const isSame = last?.member === member && (last.timeline ?? timeline) === (timeline ?? last.timeline);
    this.#term = isSame ? { ...last, timeline: timeline ?? last.timeline } : { member, timeline, since: moment };
  }

  /** Undefined before the first. */
  lastTerm(): PrimaryTerm | undefined {
    return this.#term;
  }

  /** Since the start. The first primary is no change. */
  changes(): Readonly<Record<PrimaryChange, ChangeCount>> {
    return this.#changes;
  }
}
