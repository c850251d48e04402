// The phases of an operation with their times, as its document shows them.
import type { Clock, Instant } from '../../model/instant.ts';
import type { OperationDocument, Phase, PhaseDocument } from '../../documents/switchover-document.ts';

export interface PhasesOptions {
  readonly clock: Clock;
  /** Epoch milliseconds, for the document only. */
  readonly wallClock: () => number;
  readonly onPhase: (phase: Phase, before: PhaseDocument | undefined) => void;
}

export class Phases {
  readonly #options: PhasesOptions;
  readonly #startedAt: Instant;
  readonly #startedWall: number;
  /** Each ends when the next one begins, the last one with the operation. */
  readonly #entered: { readonly phase: Phase; readonly at: Instant }[] = [];
  /** The end of the operation. */
  #endedAt: Instant | undefined;

  /** The operation begins with its check. */
  constructor(options: PhasesOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#startedWall = options.wallClock();
    this.enter('check');
  }

  enter(phase: Phase): void {
    this.#entered.push({ phase, at: this.#options.clock.now() });
    this.#options.onPhase(phase, this.document().phases.at(-2));
  }

  /** The operation is over. */
  end(): void {
    this.#endedAt = this.#options.clock.now();
  }

  hasEnded(): boolean {
    return this.#endedAt !== undefined;
  }

  /** The last one that began. */
  current(): Phase {
    return this.#entered.at(-1)?.phase ?? 'check';
  }

  /** Until `to`, until the end of the operation, or until now. Null: `from` is still to come. Milliseconds. */
  span(from: Instant | undefined, to?: Instant): number | null {
    if (from === undefined) return null;
    return Math.round((to ?? this.#endedAt ?? this.#options.clock.now()) - from);
  }

  document(): Pick<OperationDocument, 'started_at' | 'duration_ms' | 'phase' | 'phases'> {
    return {
      started_at: this.#wallAt(this.#startedAt),
      duration_ms: this.span(this.#startedAt) ?? 0,
      phase: this.current(),
      phases: this.#entered.map(({ phase, at }, i) => {
        const endedAt = this.#entered[i + 1]?.at ?? this.#endedAt;
        const duration_ms = endedAt === undefined ? null : Math.round(endedAt - at);
        return { phase, started_at: this.#wallAt(at), duration_ms };
      }),
    };
  }

  #wallAt(at: Instant): string {
    return new Date(this.#startedWall + (at - this.#startedAt)).toISOString();
  }
}
