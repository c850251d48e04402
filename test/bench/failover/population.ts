// The clients of one peer while something happens to the cluster: a steady population that never repeats an attempt, from which failures
// are counted, and one impatient client that tries again at once, so that the delay is not blurred by the population's pace.
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
    this.#steady = startLoad(() => peer.write(nextToken()), perSecond);
    this.#impatience = this.#tryAgain(nextToken);
  }

  /** When its first write on that server was acknowledged, to either kind of client; undefined when none was. */
  firstWriteOnMs(server: string, sinceMs = 0): number | undefined {
    const there = [...this.#steady.attempts, ...this.#impatient].filter(
      (attempt) => attempt.server === server && attempt.startedAtMs > sinceMs,
    );
    return there.length === 0 ? undefined : Math.min(...there.map((attempt) => attempt.endedAtMs));
  }

  /** The steady population's attempts, when every attempt under way has ended. */
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
