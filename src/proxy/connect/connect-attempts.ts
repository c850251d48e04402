// One client's dials so far: which members failed it, how many tries are left before it goes back to wait, and for how
// long.
import type { MemberName } from '../../model/member.ts';
import type { Target } from '../../core/routing-table.ts';

/** The pause after a round of failed dials; it doubles up to the longest. Milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

export class ConnectAttempts {
  readonly #perRound: number;
  /** Made with the first of them: most clients' first dial succeeds. */
  #failed: Set<MemberName> | undefined;
  #made = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #lastFailure: string | undefined;
  #wasTurnedAway = false;

  constructor(perRound: number) {
    this.#perRound = perRound;
  }

  /** A backend that was reached did not take the client in. */
  turnedAway(): void {
    this.#wasTurnedAway = true;
  }

  wasTurnedAway(): boolean {
    return this.#wasTurnedAway;
  }

  /** `pg-1: connection refused`; undefined while none failed. */
  lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /** How many more connects the present round may have. */
  left(): number {
    return this.#perRound - this.#made;
  }

  /** Those that did not fail this client yet, or all of them when each did. */
  preferred(targets: readonly [Target, ...Target[]]): readonly [Target, ...Target[]] {
    const failed = this.#failed;
    if (failed === undefined) return targets;
    const [first, ...rest] = targets.filter(({ member }) => !failed.has(member));
    return first === undefined ? targets : [first, ...rest];
  }

  /**
   * Notes a failed dial. Returns 0 when another member is to be tried at once, else how long to wait before the next
   * round: the same member refusing twice in a row says nothing new, and a fault of ours passes to no other member.
   */
  failed(member: MemberName, detail: string, isLocalFault: boolean, targets: readonly Target[]): number {
    this.#lastFailure = `${member}: ${detail}`;
    this.#made += 1;
    const known = (this.#failed ??= new Set()).add(member);
    const isAnotherLeft = targets.some((target) => !known.has(target.member));
    if (this.#made < this.#perRound && isAnotherLeft && !isLocalFault) return 0;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    this.#made = 0;
    this.#failed = undefined;
    return pauseMs;
  }
}
