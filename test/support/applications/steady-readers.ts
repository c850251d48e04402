// Readers that never stop: `pooled` ones keep their sessions as a connection pool does, `reconnecting` ones open a
// session for each read. Each read records its server and time, so that a test can say for how long a reader had no
// answer, and which server answered that should not have.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { SERVER_NAME } from '../clusters/server-name.ts';
import type { Credentials } from '../patroni/settings.ts';
import { monotonicMs } from '../waiting/wait.ts';

export type ReaderKind = 'pooled' | 'reconnecting';

export interface ReaderOptions {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl?: Credentials['ssl'];
}

interface Read {
  /** host:port, by its own account. */
  readonly server: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** Between two reads of one reader. */
const PAUSE_MS = 50;

export class SteadyReaders {
  readonly kind: ReaderKind;
  readonly #options: ReaderOptions;
  readonly #reads: Read[][];
  readonly #errors: string[] = [];
  readonly #stopping = new AbortController();
  readonly #loops: readonly Promise<void>[];

  constructor(kind: ReaderKind, count: number, options: ReaderOptions) {
    this.kind = kind;
    this.#options = options;
    this.#reads = Array.from({ length: count }, () => []);
    this.#loops = this.#reads.map((reads) => this.#readOn(reads));
  }

  /** Where each reader was served last; undefined: not yet. */
  servers(): readonly (string | undefined)[] {
    return this.#reads.map((reads) => reads.at(-1)?.server);
  }

  /** Every reader has been served by one of these, and by nobody else in its newest read. */
  areOn(servers: readonly string[]): boolean {
    return this.servers().every((server) => server !== undefined && servers.includes(server));
  }

  /** When the last read began that this server answered; -Infinity: it answered none. */
  lastReadOnMs(server: string): number {
    return Math.max(...this.#reads.flat().map((read) => (read.server === server ? read.startedAtMs : -Infinity)));
  }

  /** The longest time for which a reader was not served, from `sinceMs` on. */
  longestGapMs(sinceMs: number): number {
    const gaps = this.#reads.map((reads) => {
      const after = reads.filter(({ endedAtMs }) => endedAtMs >= sinceMs);
      return Math.max(...after.map(({ endedAtMs }, at) => endedAtMs - (after[at - 1]?.endedAtMs ?? sinceMs)));
    });
    return Math.round(Math.max(...gaps));
  }

  /** Texts of failed reads, each once. */
  errors(): readonly string[] {
    return [...new Set(this.#errors)];
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #readOn(reads: Read[]): Promise<void> {
    const { signal } = this.#stopping;
    let client: Client | undefined;
    while (!signal.aborted) {
      const startedAtMs = monotonicMs();
      try {
        client ??= await this.#connect();
        const { rows } = await client.query<{ server: string }>(`select ${SERVER_NAME} as server`);
        reads.push({ server: rows[0]?.server ?? '', startedAtMs, endedAtMs: monotonicMs() });
      } catch (error) {
        this.#errors.push(String(error));
        client = await left(client);
      }
      if (this.kind === 'reconnecting') client = await left(client);
      await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
    await left(client);
  }

  async #connect(): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', ...this.#options });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}

async function left(client: Client | undefined): Promise<undefined> {
  await client?.end().catch(() => undefined);
}
