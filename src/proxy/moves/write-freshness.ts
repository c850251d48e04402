// Keeps sessions of a primary from losing what it has confirmed to them: the next primary must have all of its WAL.
import type { SeenPosition } from '../../core/caught-up.ts';
import { succeeds } from '../../core/succession.ts';
import type { WalEvidence } from '../../core/wal-samples.ts';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { WalReport } from '../../model/moves.ts';
import type { FreshnessCheck, FreshnessRule } from './freshness-rule.ts';

export interface WriteFreshnessOptions {
  readonly clock: Clock;
  /** Undefined: no positions are known. */
  readonly wal?: () => WalEvidence;
}

export class WriteFreshness implements FreshnessRule {
  readonly #options: WriteFreshnessOptions;

  constructor(options: WriteFreshnessOptions) {
    this.#options = options;
  }

  shown(member: MemberName, wal: WalReport | undefined): SeenPosition | string {
    if (wal === undefined) return `the WAL position of ${member} is not known`;
    if (wal.kind === 'standby') return `${member} is a standby`;
    return { wal, timeline: wal.timeline, at: this.#options.clock.now() };
  }

  lost(): undefined {
    return undefined;
  }

  seemsCaughtUp(): boolean {
    return true;
  }

  bind({ wal: left }: SeenPosition, member: MemberName): FreshnessCheck {
    return { kind: 'succeed', compare: (next) => succeeds(left, next, this.#firstSeen(member, next)) };
  }

  #firstSeen(member: MemberName, next: WalReport | undefined): number | undefined {
    const timeline = next?.kind === 'primary' ? next.timeline : undefined;
    const samples = this.#options.wal?.().samples.get(member) ?? [];
    return samples.findLast(({ run }) => run.timeline === timeline)?.bytes;
  }
}
