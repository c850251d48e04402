// Tells of the late reads of a pool: of a member's first at once, of more once in a second, and of the end.
import type { ReadScope } from '../../model/causal-reads.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { LateResult } from '../../reports/causal-reads.ts';
import type { ReadEvent } from '../../reports/read-events.ts';

export interface LateEpisodesOptions {
  readonly pool: PoolName;
  /** As it is now. Undefined: a reload has switched causal reads off. */
  readonly scope: () => ReadScope | undefined;
  /** Its timers belong to no session. */
  readonly clock: Clock;
  readonly onEvent: (event: ReadEvent) => void;
}

/** The late reads of one member, without a gap of `QUIET_MS`. */
interface LateEpisode {
  readonly since: Instant;
  lastAt: Instant;
  reads: number;
  /** Not told yet. */
  readonly untold: Map<LateResult, number>;
  why: string;
  cancel: () => void;
}

const TELL_MS = 1_000;
const QUIET_MS = 10_000;

export class LateEpisodes {
  readonly #options: LateEpisodesOptions;
  readonly #episodes = new Map<MemberName, LateEpisode>();

  constructor(options: LateEpisodesOptions) {
    this.#options = options;
  }

  /** `why`: a sentence. */
  note(member: MemberName, result: LateResult, why: string): void {
    const { pool, scope, clock, onEvent } = this.#options;
    const now = clock.now();
    const known = this.#episodes.get(member);
    if (known !== undefined) {
      known.untold.set(result, (known.untold.get(result) ?? 0) + 1);
      Object.assign(known, { lastAt: now, reads: known.reads + 1, why });
      return;
    }
    const cancel = this.#tellLater(member);
    this.#episodes.set(member, { since: now, lastAt: now, reads: 1, untold: new Map(), why, cancel });
    onEvent({ kind: 'reads_late', pool, member, result, readsScope: scope(), count: 1, isFirst: true, why });
  }

  /** Tells what is not told yet. */
  stop(): void {
    for (const [member, { cancel }] of this.#episodes) {
      cancel();
      this.#tell(member);
    }
    this.#episodes.clear();
  }

  #tellLater(member: MemberName): () => void {
    return this.#options.clock.schedule(TELL_MS, () => {
      const episode = this.#episodes.get(member);
      if (episode === undefined) return;
      this.#tell(member);
      if (this.#options.clock.now() < episode.lastAt + QUIET_MS) episode.cancel = this.#tellLater(member);
      else this.#isOver(member, episode);
    });
  }

  #tell(member: MemberName): void {
    const { pool, scope, onEvent } = this.#options;
    const { untold = new Map<LateResult, number>(), why = '' } = this.#episodes.get(member) ?? {};
    for (const [result, count] of untold)
      onEvent({ kind: 'reads_late', pool, member, result, readsScope: scope(), count, why });
    untold.clear();
  }

  #isOver(member: MemberName, { reads, since, lastAt }: LateEpisode): void {
    const { pool, onEvent } = this.#options;
    this.#episodes.delete(member);
    onEvent({ kind: 'reads_in_time', pool, member, count: reads, durationMs: lastAt - since });
  }
}
