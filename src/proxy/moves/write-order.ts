// Keeps sessions of a primary from losing what it has confirmed to them: the next primary must have all of its WAL.
import type { Shown } from '../../core/caught-up.ts';
import { succeeds } from '../../core/succession.ts';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { WalReport } from '../../model/moves.ts';
import type { BoundOrder, MoveOrder } from './move-order.ts';

export class WriteOrder implements MoveOrder {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  shown(member: MemberName, wal: WalReport | undefined): Shown | string {
    if (wal === undefined) return `the WAL position of ${member} is not known`;
    if (wal.kind === 'standby') return `${member} is a standby`;
    return { wal, timeline: wal.timeline, at: this.#clock.now() };
  }

  lost(): undefined {
    return undefined;
  }

  seemsCaughtUp(): boolean {
    return true;
  }

  bind({ wal: left }: Shown): BoundOrder {
    return { kind: 'succeed', compare: (next) => succeeds(left, next) };
  }
}
