// The primary as this Pointsman routes to it, and its changes. Pure.
import type { MemberName } from '../model/member.ts';
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

  /** The member serves every pool for writes. `kind`: of the change, if it was another member before. */
  serves(member: MemberName, timeline: number | undefined, moment: Moment, kind: PrimaryChange): void {
    const last = this.#term;
    if (last !== undefined && last.member !== member) {
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
