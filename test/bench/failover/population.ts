// The clients of one peer during a change: a steady population that never repeats an attempt, for the failures, and one
// impatient client that retries at once, for an exact delay.
import { setTimeout as delay } from 'node:timers/promises';
import { startLoad, type Attempt, type ConnectLoad } from '../../support/applications/connect-load.ts';
import type { Peer } from './peer.ts';

const AFTER_A_FAILURE_MS = 20;
const AFTER_A_SUCCESS_MS = 250;

export class Population {
  readonly peer: Peer;
  readonly #steady: ConnectLoad;
  readonly #impatient: Attempt[] = [];
  readonly #impatience: Promise<void>;
  readonly #ending = new AbortController();

  constructor(peer: Peer, perSecond: number, nextToken: () => number) {
    this.peer = peer;
    this.#steady = startLoad(
      () => peer.write(nextToken()),
      () => 1000 / perSecond,
    );
    this.#impatience = this.#tryAgain(nextToken);
  }

  /** The time of the first acknowledged write on that server, of either kind of client; undefined without one. */
  firstWriteOnMs(server: string, sinceMs = 0): number | undefined {
    const there = [...this.#steady.attempts, ...this.#impatient].filter(
      (attempt) => attempt.server === server && attempt.startedAtMs > sinceMs,
    );
    return there.length === 0 ? undefined : Math.min(...there.map((attempt) => attempt.endedAtMs));
  }

  /** Resolves with the steady population's attempts after the last one has ended. */
  async stop(): Promise<readonly Attempt[]> {
    this.#ending.abort();
    await this.#impatience;
    return this.#steady.stop();
  }

  async #tryAgain(nextToken: () => number): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const attempt = await this.peer.write(nextToken());
      this.#impatient.push(attempt);
      const pause = attempt.error === undefined ? AFTER_A_SUCCESS_MS : AFTER_A_FAILURE_MS;
      await delay(pause, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
  }
}
