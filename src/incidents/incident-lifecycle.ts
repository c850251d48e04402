// The life of an incident: it opens, settles after a quiet time, opens again when trouble returns soon, and rolls
// over after an hour. A state machine without a clock: time is an argument.
import type { Instant } from '../model/instant.ts';

/** An incident settles after this long without trouble. Milliseconds. */
export const QUIET_MS = 10_000;
/** Trouble that returns so soon after it had settled belongs to the same incident. Milliseconds. */
export const REOPEN_MS = 60_000;
/** The incident after this is another document, so that no document grows without end. Milliseconds. */
export const ROLL_OVER_MS = 3_600_000;

/** `close`: the incident is over with the trouble that it was about, and another trouble begins. */
export type Step = 'open' | 'reopen' | 'settle' | 'end' | 'roll_over' | 'close';

/** `side`: an effect of trouble that is there, or trouble of its own without a plan to compare. */
export type TroubleKind = 'planned' | 'unplanned' | 'side';

export class IncidentLifecycle {
  #phase: 'none' | 'open' | 'settled' = 'none';
  #openedAt: Instant = -Infinity;
  /** It began with an operation, and nothing else came since. */
  #isPlanned = false;
  /** The last trouble; while it is settled, when it settled. */
  #since: Instant = -Infinity;

  /**
   * Trouble begins. Carried out one after the other. `wasGoingOn`: other trouble was there already. An operation is an
   * incident of its own: a crash soon after it is another one.
   */
  trouble(at: Instant, plan: TroubleKind = 'unplanned', wasGoingOn = false): readonly Step[] {
    const first = this.#phase === 'none' ? [] : this.tick(at, true, false);
    this.#since = Math.max(this.#since, at);
    if (this.#phase !== 'none' && plan !== 'side') {
      if (!wasGoingOn && (this.#isPlanned || plan === 'planned')) return [...first, 'close', ...this.#open(at, plan)];
      this.#isPlanned &&= plan === 'planned';
    }
    switch (this.#phase) {
      case 'none':
        return [...first, ...this.#open(at, plan)];
      case 'settled':
        this.#phase = 'open';
        return [...first, 'reopen'];
      case 'open':
        if (at < this.#openedAt + ROLL_OVER_MS) return first;
        this.#openedAt = at;
        return [...first, 'roll_over'];
    }
  }

  #open(at: Instant, plan: TroubleKind): readonly Step[] {
    this.#phase = 'open';
    this.#openedAt = at;
    this.#isPlanned = plan === 'planned';
    return ['open'];
  }

  /** Trouble was still there at that time. */
  goesOn(at: Instant): void {
    if (this.#phase === 'open') this.#since = Math.max(this.#since, at);
  }

  /**
   * Time has passed. `hasNews`: the open incident has other events than probes since it began. Without any, an hour of
   * it is no document of its own.
   */
  tick(now: Instant, isGoingOn: boolean, hasNews: boolean): readonly Step[] {
    if (this.#phase === 'settled' && now >= this.#since + REOPEN_MS) {
      this.#phase = 'none';
      return ['end'];
    }
    if (this.#phase !== 'open') return [];
    if (isGoingOn) this.#since = Math.max(this.#since, now);
    if (now >= this.#since + QUIET_MS) {
      this.#phase = 'settled';
      this.#since = now;
      return ['settle'];
    }
    if (!hasNews || now < this.#openedAt + ROLL_OVER_MS) return [];
    this.#openedAt = now;
    return ['roll_over'];
  }

  /** When tick() is due at the latest. Infinity: only trouble changes anything. */
  dueAt(): Instant {
    switch (this.#phase) {
      case 'none':
        return Infinity;
      case 'settled':
        return this.#since + REOPEN_MS;
      case 'open':
        return this.#since + QUIET_MS;
    }
  }
}
