// Clients that read a counter which only grows, each in one session for its whole life. A session that goes back in
// time sees the counter shrink.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import { SERVER_NAME } from '../clusters/server-name.ts';
import { monotonicMs } from '../waiting/wait.ts';

/** Between two reads of one reader. */
const PAUSE_MS = 5;

export class CounterReaders {
  readonly #clients: readonly Client[];
  readonly #servers: string[] = [];
  readonly #seen: number[] = [];
  readonly #longestMs: number[] = [];
  readonly #problems: string[] = [];
  readonly #stopping = new AbortController();
  #loops: readonly Promise<void>[] = [];

  private constructor(clients: readonly Client[]) {
    this.#clients = clients;
  }

  /** `statement` gives the counter. */
  static async open(count: number, statement: string, as: ClientConfig): Promise<CounterReaders> {
    const clients = Array.from({ length: count }, () => new Client({ host: '127.0.0.1', ...as }));
    const readers = new CounterReaders(clients);
    for (const client of clients) client.on('error', (error) => readers.#problems.push(error.message));
    await Promise.all(clients.map((client) => client.connect()));
    readers.#loops = clients.map((client, at) => readers.#readOn(client, at, statement));
    return readers;
  }

  /** host:port of the last answer of each. */
  servers(): readonly (string | undefined)[] {
    return this.#clients.map((_, at) => this.#servers[at]);
  }

  areOn(server: string): boolean {
    return this.servers().every((one) => one === server);
  }

  /** The newest value that each has seen. */
  seen(): readonly number[] {
    return this.#clients.map((_, at) => this.#seen[at] ?? -1);
  }

  /** The longest that each has waited for an answer. */
  longestMs(): readonly number[] {
    return this.#clients.map((_, at) => this.#longestMs[at] ?? 0);
  }

  /** Counters that shrank, and errors. */
  problems(): readonly string[] {
    return [...new Set(this.#problems)];
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#clients.map((client) => client.end().catch(() => undefined)));
    await Promise.all(this.#loops);
  }

  async #readOn(client: Client, at: number, statement: string): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const sql = `select (${statement})::int as counter, ${SERVER_NAME} as server`;
        const askedAtMs = monotonicMs();
        const { rows } = await client.query<{ counter: number; server: string }>(sql);
        this.#longestMs[at] = Math.max(this.#longestMs[at] ?? 0, monotonicMs() - askedAtMs);
        const { counter = -1, server = '' } = rows[0] ?? {};
        const before = this.#seen[at] ?? -1;
        if (counter < before) this.#problems.push(`${before} on ${this.#servers[at]}, then ${counter} on ${server}`);
        this.#seen[at] = counter;
        this.#servers[at] = server;
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#problems.push(String(error));
        return;
      }
      await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
