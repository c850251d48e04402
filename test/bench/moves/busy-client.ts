// A client that sends one statement after the other, and measures the longest time from one answer to the next.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';

/** Between two statements. Milliseconds. */
const PAUSE_MS = 10;

export class BusyClient {
  readonly #client: Client;
  #ended: Promise<void> | undefined;
  #isStopped = false;
  #answeredAt = 0;
  #longestMs = 0;
  #statements = 0;
  #failure: string | undefined;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** It sends nothing yet. */
  static async connect(config: ClientConfig): Promise<BusyClient> {
    const client = new Client(config);
    client.on('error', () => {});
    await client.connect();
    return new BusyClient(client);
  }

  begin(): void {
    this.#answeredAt = performance.now();
    this.#ended ??= this.#work();
  }

  /** The figures as a text. */
  async stop(): Promise<string> {
    this.#isStopped = true;
    await this.#ended;
    await this.#client.end().catch(() => {});
    const ended = this.#failure === undefined ? '' : `, then it ended: ${this.#failure}`;
    return `${this.#longestMs.toFixed(0)} ms, of ${this.#statements} statements${ended}`;
  }

  async #work(): Promise<void> {
    try {
      while (!this.#isStopped) {
        await this.#client.query('select 1');
        const now = performance.now();
        this.#longestMs = Math.max(this.#longestMs, now - this.#answeredAt);
        this.#answeredAt = now;
        this.#statements += 1;
        await sleep(PAUSE_MS);
      }
    } catch (error) {
      this.#failure = String(error);
    }
  }
}
