// Writers at a fixed rate, each with a row of its own. One of them reads its row back at once, and so tells whether
// reads are stale.
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import type { Way } from './ways.ts';

const WRITERS = 4;
export const CREATE_WRITTEN = `create table written (id int primary key, n int not null) with (fillfactor = 10);
  insert into written select id, 0 from generate_series(0, ${WRITERS - 1}) as id`;

export interface WriterPlan {
  readonly write: ClientConfig;
  readonly read: ClientConfig;
  readonly commit: Way['commit'];
  /** All together. */
  readonly perSecond: number;
}

export interface EndedWrites {
  /** Milliseconds, in order. */
  readonly timesMs: readonly number[];
  readonly checked: number;
  readonly stale: number;
  /** Failures of the reads that check. */
  readonly errors: readonly string[];
}

export class Writers {
  readonly #pauseMs: number;
  readonly #clients: readonly Client[];
  readonly #loops: readonly Promise<void>[];
  #isStopping = false;
  #timesMs: number[] = [];
  #checked = 0;
  #stale = 0;
  #errors: string[] = [];

  private constructor(perSecond: number, writers: readonly Client[], reader: Client) {
    this.#pauseMs = (1000 * WRITERS) / perSecond;
    this.#clients = [...writers, reader];
    this.#loops = writers.map((client, id) => this.#write(client, id, id === 0 ? reader : undefined));
  }

  static async open({ write, read, commit, perSecond }: WriterPlan): Promise<Writers | undefined> {
    if (perSecond === 0) return undefined;
    const writers = Array.from({ length: WRITERS }, () => new Client(write));
    const reader = new Client(read);
    await Promise.all([...writers, reader].map((client) => client.connect()));
    await Promise.all(writers.map((client) => client.query(`set synchronous_commit = ${commit}`)));
    return new Writers(perSecond, writers, reader);
  }

  /** The window begins. */
  clear(): void {
    [this.#timesMs, this.#errors, this.#checked, this.#stale] = [[], [], 0, 0];
  }

  /** Since the window began. */
  ended(): EndedWrites {
    const [checked, stale, errors] = [this.#checked, this.#stale, [...this.#errors]];
    return { timesMs: this.#timesMs.toSorted((a, b) => a - b), checked, stale, errors };
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#clients.map((client) => client.end()));
  }

  /** A write that is late does not make the next ones come at once. */
  async #write(client: Client, id: number, reader: Client | undefined): Promise<void> {
    const text = `update written set n = n + 1 where id = ${id} returning n`;
    for (
      let nextMs = performance.now();
      !this.#isStopping;
      nextMs = Math.max(nextMs + this.#pauseMs, performance.now())
    ) {
      await delay(Math.max(0, nextMs - performance.now()));
      const sentMs = performance.now();
      const { rows } = await client.query<{ n: number }>({ name: 'write', text });
      this.#timesMs.push(performance.now() - sentMs);
      const [row] = rows;
      if (row === undefined) throw new Error(`there is no row ${id}`);
      if (reader !== undefined) await this.#check(reader, id, row.n);
    }
  }

  async #check(reader: Client, id: number, written: number): Promise<void> {
    try {
      const text = `select n from written where id = ${id}`;
      const { rows } = await reader.query<{ n: number }>({ name: 'read', text });
      this.#checked += 1;
      if ((rows[0]?.n ?? 0) < written) this.#stale += 1;
    } catch (error) {
      this.#errors.push(String(error));
    }
  }
}
