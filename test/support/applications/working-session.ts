// A client that keeps one session, runs a short transaction on it now and then, and connects again when it ends.
// Maintenance meets such clients in a connection pool. Each end is recorded with the state of the transaction.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { SERVER_NAME } from '../clusters/server-name.ts';
import { monotonicMs } from '../waiting/wait.ts';
import type { Credentials } from '../patroni/settings.ts';

export interface SessionEnd {
  /** host:port of the server it was with. */
  readonly server: string;
  /** monotonicMs() */
  readonly atMs: number;
  /** Whether a transaction had begun, by the server's answer, and had not ended. */
  readonly inTransaction: boolean;
  /** SQLSTATE and text, as the client learned it. */
  readonly words: string;
}

export interface FailedConnect {
  readonly startedAtMs: number;
  readonly words: string;
}

/** Between two transactions: sessions are met in either. */
const PAUSE_MS = 250;
/** A transaction, roughly. */
const TRANSACTION_MS = 150;
const STATEMENTS = ['select 1', 'select pg_sleep(0.1)'];

export class WorkingSession {
  readonly ends: SessionEnd[] = [];
  readonly failedConnects: FailedConnect[] = [];
  readonly #port: number;
  readonly #as: Credentials;
  readonly #pauseMs: number;
  readonly #firstPauseMs: number;
  readonly #stopping = new AbortController();
  readonly #work: Promise<void>;
  /** host:port; undefined while it has no session. */
  server: string | undefined;

  /** `outOfStep`: wait before the first transaction as a share of the period, 0 to 1, to spread several sessions. */
  constructor(port: number, as: Credentials, outOfStep: number, pauseMs = PAUSE_MS) {
    this.#port = port;
    this.#as = as;
    this.#pauseMs = pauseMs;
    this.#firstPauseMs = outOfStep * (pauseMs + TRANSACTION_MS);
    this.#work = this.#keepWorking();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async #keepWorking(): Promise<void> {
    while (!this.#stopping.signal.aborted) await this.#workUntilTheEnd();
  }

  async #workUntilTheEnd(): Promise<void> {
    const startedAtMs = monotonicMs();
    const client = new Client({ host: '127.0.0.1', port: this.#port, ...this.#as });
    let told: Error | undefined;
    const ended = new AbortController();
    client.on('error', (error) => {
      told ??= error;
    });
    client.on('end', () => ended.abort());
    try {
      await client.connect();
    } catch (error) {
      this.failedConnects.push({ startedAtMs, words: wordsOf(told ?? error) });
      return;
    }
    let inTransaction = false;
    const either = AbortSignal.any([this.#stopping.signal, ended.signal]);
    try {
      const { rows } = await client.query<{ server: string }>(`select ${SERVER_NAME} as server`);
      this.server = rows[0]?.server;
      await delay(this.#firstPauseMs, undefined, { signal: either }).catch(() => undefined);
      while (!either.aborted) {
        await client.query('begin');
        inTransaction = true;
        for (const statement of STATEMENTS) await client.query(statement);
        await client.query('commit');
        inTransaction = false;
        await delay(this.#pauseMs, undefined, { signal: either }).catch(() => undefined);
      }
      if (!this.#stopping.signal.aborted) this.#note(inTransaction, told);
    } catch (error) {
      this.#note(inTransaction, told ?? error);
    } finally {
      this.server = undefined;
      await client.end().catch(() => undefined);
    }
  }

  #note(inTransaction: boolean, why: unknown): void {
    this.ends.push({ server: this.server ?? '', atMs: monotonicMs(), inTransaction, words: wordsOf(why) });
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'closed without a word';
  return 'code' in error ? `${String(error.code)} ${error.message}` : error.message;
}
