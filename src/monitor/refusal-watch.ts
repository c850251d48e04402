// Watches for refused primaries. Reports a new refusal, and requests other members' documents while the refusal lasts.
import { describeRefusal, refusalEnds } from '../core/describe.ts';
import type { MonitorEvent } from '../reports/monitor-events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { ProbePolicy } from '../model/policy.ts';
import { refusedPrimaries, withAccepted, type RefusedPrimary } from '../core/refused-primary.ts';
import type { Acceptance, RefusalKind, Snapshot } from '../core/snapshot.ts';

export interface RefusalWatchOptions {
  readonly probe: () => ProbePolicy;
  readonly clock: Clock;
  /** Requests the document of another member than this one. */
  readonly seekLeader: (not: MemberName) => void;
  readonly onEvent: (event: MonitorEvent) => void;
}

export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly snapshot: Snapshot; readonly acceptance: Acceptance }
  /** `refused` has no primary, or more than one: an operator cannot choose. */
  | { readonly kind: 'impossible'; readonly refused: readonly RefusedPrimary[] };

export class RefusalWatch {
  readonly #options: RefusalWatchOptions;
  #known: ReadonlySet<string> = new Set();
  #sought: Instant = -Infinity;

  constructor(options: RefusalWatchOptions) {
    this.#options = options;
  }

  refused(snapshot: Snapshot): readonly RefusedPrimary[] {
    return refusedPrimaries(this.#options.probe(), snapshot, this.#options.clock.now());
  }

  /** Compares two snapshots and reports what changed. */
  read(previous: Snapshot, next: Snapshot): void {
    const { accepted } = next;
    if (accepted !== undefined && accepted !== previous.accepted) {
      const { member, kind: refusal, by, detail } = accepted;
      this.#options.onEvent({ kind: 'primary_accepted', member, refusal, by, detail });
    }
    const refused = this.refused(next);
    for (const one of refused) {
      if (!this.#known.has(keyOf(one))) this.#report(one);
    }
    this.#known = new Set(refused.map(keyOf));
    const [first] = refused;
    if (first !== undefined) this.#seek(first.member);
  }

  /** The snapshot after an operator accepts the refused primary. */
  accept(kind: RefusalKind, snapshot: Snapshot): AcceptOutcome {
    const refused = this.refused(snapshot).filter((one) => one.kind === kind);
    const [only, ...others] = refused;
    if (only === undefined || others.length > 0) return { kind: 'impossible', refused };
    const next = withAccepted(snapshot, only, 'operator', this.#options.clock.now());
    return next.accepted === undefined
      ? { kind: 'impossible', refused }
      : { kind: 'accepted', snapshot: next, acceptance: next.accepted };
  }

  #report(refused: RefusedPrimary): void {
    const { member, kind: refusal } = refused;
    const ends = refusalEnds(refused, this.#options.clock.now()).join(', or ');
    const text = `${member} ${describeRefusal(refused)}; refused, and no other primary is known; ends with ${ends}`;
    this.#options.onEvent({ kind: 'primary_refused', member, refusal, text });
  }

  /** Often enough that one failed read does not break the agreement: a document counts for `silenceGraceMs`. */
  #seek(member: MemberName): void {
    const now = this.#options.clock.now();
    if (now - this.#sought < this.#options.probe().silenceGraceMs / 3) return;
    this.#sought = now;
    this.#options.seekLeader(member);
  }
}

function keyOf({ kind, member, shown }: RefusedPrimary): string {
  return JSON.stringify([kind, member, shown]);
}
