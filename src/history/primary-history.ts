// The primary as this Pointsman routes to it, and its changes. A change is a switchover if the old primary handed over:
// it was asked to, or it still answers for itself when the next primary is proven. Every other change is a failover.
// Pure.
import { isAnswering, isDead } from '../core/snapshot.ts';
import type { MemberRecord, Snapshot } from '../core/snapshot.ts';
import { openPrimary, primaryPools } from '../core/primary-pools.ts';
import type { PoliciesAndTable } from '../core/primary-pools.ts';
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

/** An old primary that is silent for this long did not hand over. Milliseconds. */
const LOST_MS = 1000;
/** PostgreSQL stopped without being asked to. */
const CRASHED = /crash|failed/;

export class PrimaryHistory {
  readonly #changes: Record<PrimaryChange, ChangeCount> = {
    failover: { count: 0, last: undefined },
    switchover: { count: 0, last: undefined },
  };
  #last: PrimaryTerm | undefined;
  #hasRoute = false;
  /** Of the loss that is going on. */
  #wasAsked = false;
  #wasLost = false;

  /** To be called with each decision. */
  decided(known: PoliciesAndTable, snapshot: Snapshot, moment: Moment): void {
    const member = openPrimary(known);
    this.#hasRoute = member !== undefined;
    if (member === undefined) return this.#watchLoss(known, snapshot);
    const timeline = snapshot.members.get(member)?.status?.timeline;
    const last = this.#last;
    if (last !== undefined && last.member !== member) {
      const kind = this.#kindOf(snapshot.members.get(last.member));
      this.#changes[kind] = { count: this.#changes[kind].count + 1, last: moment };
    }
    this.#wasAsked = false;
    this.#wasLost = false;
    const isSame = last?.member === member && (last.timeline ?? timeline) === (timeline ?? last.timeline);
    this.#last = isSame ? { ...last, timeline: timeline ?? last.timeline } : { member, timeline, since: moment };
  }

  /** Undefined while no member may take writes. */
  current(): PrimaryTerm | undefined {
    return this.#hasRoute ? this.#last : undefined;
  }

  /** Since the start. The first primary is no change. */
  changes(): Readonly<Record<PrimaryChange, ChangeCount>> {
    return this.#changes;
  }

  #watchLoss({ policy, table }: PoliciesAndTable, { members }: Snapshot): void {
    if (this.#last === undefined) return;
    const routes = primaryPools(policy).map(({ name }) => table.pools.get(name)?.route);
    if (routes.some((route) => route?.kind === 'hold' && route.cause === 'switchover')) this.#wasAsked = true;
    const record = members.get(this.#last.member);
    if (record === undefined || isLost(record)) this.#wasLost = true;
  }

  #kindOf(old: MemberRecord | undefined): PrimaryChange {
    if (this.#wasLost || old === undefined || isLost(old)) return 'failover';
    return this.#wasAsked || isAnswering(old) ? 'switchover' : 'failover';
  }
}

function isLost(record: MemberRecord): boolean {
  const { failure, status } = record;
  if (failure !== undefined && (isDead(record) || failure.at - failure.since >= LOST_MS)) return true;
  return CRASHED.test(status?.state ?? '');
}
