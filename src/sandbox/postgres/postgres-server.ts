// One real PostgreSQL server: start, stop, promote, query, and faults on purpose. There is one postmaster at a time.
// Each way to end it removes the remains of a killed one, so that the next start finds a data directory like that of a
// host that came back.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasControlFile } from './base-backup.ts';
import type { Binaries } from './binaries.ts';
import { DataDirectory, type CopySource } from './data-directory.ts';
import { logSince, logSize, spawnPostmaster, startFailure, untilReady, type Postmaster } from './postmaster.ts';
import { freezeTree, killTree, send, thawTree } from './process-tree.ts';
import { postgresProcessesIn } from './processes.ts';
import { run, type RunAs } from './run-as.ts';
import type { Parameters, RecoveryRole, ServerRole, StartOutcome, Upstream } from './server-types.ts';
import { clusterWideArguments, ownedArguments, roleArguments, settingArguments } from './settings-files.ts';
import type { Credentials } from './settings-files.ts';
import { openSql, type Sql, type SqlStatement } from './sql.ts';
import { isWithin } from './within.ts';

export interface ServerPlan {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** For this server alone: it contains its data directory and its log. */
  readonly directory: string;
  readonly bin: Binaries;
  readonly runAs: RunAs;
  readonly superuser: Credentials;
  /** Settings that no file overrides, besides those of every server. */
  readonly settings: Parameters;
}

const START_WITHIN_MS = 20_000;
const STOP_WITHIN_MS = { fast: 30_000, immediate: 8_000 } as const;
const PROMOTE_WITHIN_SECONDS = 20;
const QUERY_WITHIN_MS = 2_000;
const RELOAD_POLL_MS = 10;

/** The part that a manager uses, and that a test can replace. */
export type PostgresServer = Pick<SandboxServer, keyof SandboxServer>;

export class SandboxServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly #plan: ServerPlan;
  readonly #files: DataDirectory;
  readonly #logFile: string;
  readonly #sql: Sql;
  readonly #exitListeners = new Set<() => void>();
  #postmaster: Postmaster | undefined;
  #isFrozen = false;
  /** Aborted by kill() and close(), which must end a start or rebuild in progress. */
  #life = new AbortController();
  #rebuild: Promise<void> = Promise.resolve();

  constructor(plan: ServerPlan) {
    const { name, host, port, directory, runAs, superuser } = plan;
    this.name = name;
    this.host = host;
    this.port = port;
    this.dataDirectory = join(directory, 'data');
    this.#plan = plan;
    this.#files = new DataDirectory(this.dataDirectory, runAs, superuser);
    this.#logFile = join(directory, 'log');
    this.#sql = openSql({ host, port, ...superuser });
  }

  /** True from the start of the postmaster until its process has ended, also while it is frozen. */
  isAlive(): boolean {
    return this.#postmaster !== undefined;
  }

  /**
   * Resolves when it accepts connections (read-only ones for a standby) or has failed. Rejects when it runs already.
   */
  async start(
    role: ServerRole | RecoveryRole,
    parameters: Parameters,
    timeoutMs: number = START_WITHIN_MS,
  ): Promise<StartOutcome> {
    this.#mustBeDown('start');
    const { signal } = this.#life;
    await this.#rebuild.catch(() => {});
    await this.#files.clearAway();
    if (!(await hasControlFile(this.dataDirectory)))
      return startFailure('exited', 'no data: its last rebuild did not end');
    await this.#files.prepare(role, parameters);
    const offset = await logSize(this.#logFile);
    this.#mustBeDown('start');
    if (signal.aborted) return startFailure('exited', 'killed before its start');
    const postmaster = this.#spawn(role, parameters);
    if (typeof postmaster === 'string') return startFailure('exited', postmaster);
    const end = await untilReady(postmaster, this.dataDirectory, timeoutMs);
    if (end === 'ready') return { kind: 'started' };
    return startFailure(end, await logSince(this.#logFile, offset));
  }

  /**
   * `fast` ends sessions and writes a checkpoint that the standbys receive, `immediate` does neither. Smart is not
   * offered.
   */
  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    const postmaster = this.#postmaster;
    if (postmaster === undefined) return;
    await this.thaw();
    send(postmaster.pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    if (!(await isWithin(postmaster.exited, STOP_WITHIN_MS[mode]))) await this.kill();
  }

  /** `pg_ctl promote`. Resolves when it accepts writes, rejects when it does not within the deadline. */
  async promote(): Promise<void> {
    if (!this.isAlive()) throw new Error(`${this.name} cannot be promoted: it is not running`);
    const { bin, runAs } = this.#plan;
    const args = ['promote', '-D', this.dataDirectory, '-w', '-t', String(PROMOTE_WITHIN_SECONDS)];
    const { code, output } = await run(runAs, bin.pg_ctl, args, (PROMOTE_WITHIN_SECONDS + 5) * 1000);
    if (code !== 0) throw new Error(`pg_ctl promote of ${this.name} ended with ${code}: ${output}`);
  }

  /** Writes the parameters and, when the server runs, reloads them. Those that need a restart stay pending. */
  async configure(parameters: Parameters): Promise<void> {
    // While the server is down there may be no directory to write to. start() gets the parameters again.
    if (this.#postmaster === undefined) return;
    await this.#files.configure(parameters);
    this.#reload();
  }

  /** Streams from another server from now on, without a restart. */
  async follow(upstream: Upstream | undefined): Promise<void> {
    if (this.#postmaster === undefined) return;
    await this.#files.follow(upstream);
    this.#reload();
  }

  /** Other servers no longer stream from this one, or may again. Ends the streams that there are. */
  async cutStreams(isCut: boolean): Promise<void> {
    this.#files.isCut = isCut;
    if (this.#postmaster === undefined) return;
    await this.#files.writeAccess();
    const [before] = await this.query<{ at: Date }>('select pg_conf_load_time() as at, pg_reload_conf()');
    if (!isCut) return;
    // The postmaster has read the file when a session has.
    for (let loaded = before?.at; loaded?.getTime() === before?.at.getTime();) {
      await delay(RELOAD_POLL_MS);
      [{ at: loaded } = { at: undefined }] = await this.query<{ at: Date }>('select pg_conf_load_time() as at');
    }
    await this.query('select pg_terminate_backend(pid) from pg_stat_replication');
  }

  /** As a standby it applies WAL so much later. 0: at once. */
  async delayReplay(ms: number): Promise<void> {
    this.#files.replayDelayMs = ms;
    await this.follow(this.#files.upstream());
  }

  /** Makes the data directory again by a base backup of a running server. Only while this server is not running. */
  async rebuildFrom(source: CopySource): Promise<void> {
    this.#mustBeDown('rebuild');
    const { signal } = this.#life;
    this.#rebuild = this.#rebuild.catch(() => {}).then(() => this.#files.copyFrom(source, signal));
    await this.#rebuild;
  }

  /** One statement as superuser, on a connection kept for that purpose. Rejects after the deadline or on an error. */
  async query<Row extends object>(
    statement: SqlStatement,
    values: readonly unknown[] = [],
    timeoutMs: number = QUERY_WITHIN_MS,
  ): Promise<readonly Row[]> {
    if (!this.isAlive()) throw new Error(`${this.name} is not running`);
    return this.#sql.query<Row>(statement, values, timeoutMs);
  }

  /** SIGKILL for the postmaster and every process below it, like the death of the host. Resolves when all are gone. */
  async kill(): Promise<void> {
    this.#life.abort(new Error(`${this.name} was killed`));
    this.#life = new AbortController();
    const postmaster = this.#postmaster;
    if (postmaster !== undefined) {
      await killTree(postmaster.pid, await postgresProcessesIn(this.dataDirectory));
      await postmaster.exited;
    }
    await this.#files.clearAway();
  }

  /** SIGSTOP for all of them. Idempotent. */
  async freeze(): Promise<void> {
    if (this.#postmaster === undefined) return;
    this.#isFrozen = true;
    await freezeTree(this.#postmaster.pid);
  }

  async thaw(): Promise<void> {
    if (this.#postmaster === undefined || !this.#isFrozen) return;
    this.#isFrozen = false;
    await thawTree(this.#postmaster.pid);
  }

  /** Called once for each end of the postmaster, whatever the cause. Returns a function that stops listening. */
  onExit(listener: () => void): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  /** Ends the server at once if it runs, and closes its connections. Idempotent. */
  async close(): Promise<void> {
    await this.kill();
    await this.#rebuild.catch(() => {});
    this.#sql.reset();
    this.#exitListeners.clear();
  }

  #spawn(role: ServerRole | RecoveryRole, parameters: Parameters): Postmaster | string {
    const { bin, runAs, settings } = this.#plan;
    const owned = ownedArguments(this.dataDirectory, this.name, this.host, this.port);
    const others = [...settingArguments(settings), ...clusterWideArguments(parameters), ...roleArguments(role)];
    const args = [...owned, ...others];
    const postmaster = spawnPostmaster({ program: bin.postgres, args, runAs, logFile: this.#logFile });
    if (typeof postmaster === 'string') return postmaster;
    this.#postmaster = postmaster;
    void postmaster.exited.then(() => {
      this.#postmaster = undefined;
      this.#isFrozen = false;
      this.#sql.reset();
      for (const tell of this.#exitListeners) tell();
      return undefined;
    });
    return postmaster;
  }

  #mustBeDown(what: string): void {
    if (this.isAlive()) throw new Error(`${this.name} is running: cannot ${what} it`);
  }

  #reload(): void {
    if (this.#postmaster !== undefined) send(this.#postmaster.pid, 'SIGHUP');
  }
}
