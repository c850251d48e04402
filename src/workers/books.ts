// Everything that the workers tell of themselves, kept by worker: totals, tallies and live sessions. All of one report is entered in one
// step, so that they fit each other whenever a worker is gone.
import type { PoolCounts } from '../reports/counts.ts';
import type { ProxyEvent } from '../reports/events.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import type { Tally } from '../reports/tally.ts';
import { LiveSessions } from './live-sessions.ts';
import type { Report } from './messages.ts';
import { Tallies } from './tallies.ts';
import { Totals } from './totals.ts';

export class Books {
  readonly #tallies = new Tallies();
  readonly #totals = new Totals();
  readonly #live = new LiveSessions();

  enter(worker: number, { counts, tally, events }: Report, now: Instant): void {
    this.#totals.tell(worker, counts);
    this.#tallies.tell(worker, tally);
    for (const event of events) this.#live.note(worker, event, now);
  }

  /** It is gone: how each of its sessions ended. */
  close(worker: number, detail: string, now: Instant): readonly ProxyEvent[] {
    this.#totals.forget(worker);
    this.#tallies.forget(worker);
    return this.#live.forget(worker, detail, now);
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return this.#totals.sum();
  }

  sessionsOf(worker: number): number {
    return this.#totals.live(worker);
  }

  /** What one that begins has to count besides its own. */
  besides(worker: number): Tally {
    return this.#tallies.besides(worker);
  }

  /** The same for each of those that have begun: of addresses what changed since the last call. */
  news(workers: readonly number[]): ReadonlyMap<number, Tally> {
    return this.#tallies.news(workers);
  }
}
