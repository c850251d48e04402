// Many clients that each connect, run one statement, leave, and come again after a pause: applications without a pool.
import { setTimeout as delay } from 'node:timers/promises';
import { type Attempt, attemptOnce, type AttemptOptions } from './connect-load.ts';

/** Between two visits of one client. */
const PAUSE_MS = 4000;

export class ReconnectingClients {
  readonly attempts: Attempt[] = [];
  readonly #stopping = new AbortController();
  readonly #clients: Promise<void>[];

  constructor(count: number, options: AttemptOptions) {
    this.#clients = Array.from({ length: count }, (_, index) => this.#comeAgain(options, (index * PAUSE_MS) / count));
  }

  /** When all have left. */
  async stop(): Promise<readonly Attempt[]> {
    this.#stopping.abort();
    await Promise.all(this.#clients);
    return this.attempts;
  }

  async #comeAgain(options: AttemptOptions, firstAfterMs: number): Promise<void> {
    const { signal } = this.#stopping;
    const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal }).catch(() => undefined);
    await pause(firstAfterMs);
    while (!signal.aborted) {
      this.attempts.push(await attemptOnce(options));
      await pause(PAUSE_MS);
    }
  }
}
