// One Patroni member: its files, its supervised process tree, and what can be done to it from outside. It
// knows nothing of the other members; waiting for the cluster's opinion is the cluster's work.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './availability.ts';
import { type MemberStatus, parseMemberStatus, type Tags } from './documents.ts';
import { ask, type HttpQuestion } from './http.ts';
import { patroniYml } from './patroni-config.ts';
import {
  commandLine,
  freezeProcess,
  freezeTree,
  isStopped,
  processTree,
  sendSignal,
  thawTree,
} from './process-tree.ts';
import type { ApiTls, ServerTls } from './settings.ts';
import { giveTo, hostGroup, type Site } from './site.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { waitUntil } from '../waiting/wait.ts';

const LOG_LINE_LENGTH = 240;

export type MemberAddress = {
  readonly name: string;
  /** http://host:port, or https. */
  readonly api: string;
  readonly host: string;
  /** PostgreSQL's. */
  readonly port: number;
  /** Absent: in plain text. */
  readonly ssl?: ServerTls | undefined;
};

/** As a client of its API sees it, on the sandbox or on Patroni. */
export type AskedMember = Pick<Member, 'name' | 'address' | 'ask' | 'status'>;

export class Member {
  readonly name: string;
  readonly address: MemberAddress;
  readonly logFile: string;
  readonly #site: Site;
  readonly #home: string;
  readonly #dataDir: string;
  #tags: Tags = {};
  #apiTls: ApiTls | undefined;
  #process: SupervisedProcess | undefined;
  #laggingPid: number | undefined;

  constructor(site: Site, name: string, host: string) {
    this.#site = site;
    this.name = name;
    this.#apiTls = site.apiTls;
    const api = `${site.apiTls === undefined ? 'http' : 'https'}://${host}:${site.apiPort}`;
    this.address = { name, api, host, port: site.port, ssl: site.tls?.trust };
    this.#home = join(site.directory, name);
    this.#dataDir = join(this.#home, 'data');
    this.logFile = join(this.#home, 'log');
  }

  isRunning(): boolean {
    return this.#process?.isRunning() ?? false;
  }

  async launch(): Promise<void> {
    if (this.isRunning()) throw new Error(`${this.name} runs already`);
    // One that ended by itself may have left a postmaster behind.
    await this.#process?.kill();
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    giveTo(this.#site.installation, this.#home);
    this.#process = await SupervisedProcess.start({
      ...this.#site.launch,
      account: this.#account(),
      dataDir: this.#dataDir,
      logFile: this.logFile,
      command: [this.#site.installation.patroni, this.#writeConfig()],
    });
  }

  /** Patroni, postmaster and backends at once, without a word to anyone. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
    this.#laggingPid = undefined;
  }

  /** SIGTERM to Patroni, which stops PostgreSQL and gives the leader key back. */
  async stop(timeoutMs: number): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    await this.thawPostgres();
    await this.unlag();
    running.signal('SIGCONT');
    running.signal('SIGTERM');
    const patroniEnded = async () => (await processTree(running.pid)).length === 0;
    await waitUntil(`${this.name} stopped`, patroniEnded, { timeoutMs });
    // A paused cluster's Patroni leaves its PostgreSQL running.
    await this.kill();
  }

  /** Its PostgreSQL goes on. */
  killPatroni(): void {
    this.#running().signal('SIGKILL');
  }

  /** The postmaster and its backends; Patroni notices. */
  async killPostgres(): Promise<void> {
    for (const { pid } of await processTree(this.#postmasterPid())) sendSignal(pid, 'SIGKILL');
  }

  async removeFiles(): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }

  async freezePatroni(): Promise<void> {
    await freezeProcess(this.#running().pid);
  }

  thawPatroni(): void {
    this.#process?.signal('SIGCONT');
  }

  async freezePostgres(): Promise<void> {
    await freezeTree(this.#postmasterPid());
  }

  async thawPostgres(): Promise<void> {
    if (this.isRunning() && this.#hasPostmaster()) await thawTree(this.#postmasterPid(), this.#laggingPid);
  }

  /** Stops replay only: the WAL receiver goes on, so received and replayed positions part. */
  async lag(): Promise<void> {
    for (const { pid } of await processTree(this.#postmasterPid())) {
      if (/^postgres: .*\bstartup\b/.test(await commandLine(pid))) {
        await freezeProcess(pid);
        this.#laggingPid = pid;
        return;
      }
    }
    throw new Error(`${this.name} has no startup process: it is not a replica`);
  }

  async unlag(): Promise<void> {
    const pid = this.#laggingPid;
    this.#laggingPid = undefined;
    if (pid !== undefined && (await isStopped(pid))) sendSignal(pid, 'SIGCONT');
  }

  /** Writes the new patroni.yml; Patroni reads it at the next reload or start. */
  configureTags(tags: Tags): void {
    this.#tags = tags;
    this.#writeConfig();
  }

  /** Patroni ends its API and begins it anew, in its next loop. */
  setApiTls(apiTls: ApiTls): void {
    this.#apiTls = apiTls;
    this.#writeConfig();
    this.#running().signal('SIGHUP');
  }

  ask(path: string, question: HttpQuestion = {}) {
    return ask(`${this.address.api}${path}`, { tls: this.#apiTls, ...question });
  }

  async status(timeoutMs = 1000): Promise<MemberStatus | undefined> {
    return parseMemberStatus(await this.ask('/patroni', { timeoutMs }));
  }

  logTail(lines: number): string {
    try {
      const text = readFileSync(this.logFile, 'utf8').trimEnd();
      const last = text.split('\n').slice(-lines);
      return last.map((line) => line.slice(0, LOG_LINE_LENGTH)).join('\n');
    } catch {
      return '(no log)';
    }
  }

  #account(): Account {
    const { account } = this.#site.launch;
    return account && this.#site.hasHostGroups ? { ...account, gid: hostGroup(this.address.host) } : account;
  }

  #running(): SupervisedProcess {
    if (this.#process?.isRunning() !== true) throw new Error(`${this.name} does not run`);
    return this.#process;
  }

  #hasPostmaster(): boolean {
    try {
      return this.#postmasterPid() > 0;
    } catch {
      return false;
    }
  }

  #postmasterPid(): number {
    this.#running();
    return Number(readFileSync(join(this.#dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  }

  #writeConfig(): string {
    const file = join(this.#home, 'patroni.yml');
    const text = patroniYml({
      scope: this.#site.scope,
      name: this.name,
      host: this.address.host,
      apiPort: this.#site.apiPort,
      port: this.#site.port,
      etcd: this.#site.etcd,
      home: this.#home,
      dataDir: this.#dataDir,
      postgresBinDir: this.#site.installation.postgresBinDir,
      dynamic: this.#site.dynamic,
      callbacks: this.#site.callbacks,
      apiAuthentication: this.#site.apiAuthentication,
      tls: this.#site.tls,
      apiTls: this.#apiTls,
      tags: this.#tags,
    });
    writeFileSync(file, text, { mode: 0o600 });
    giveTo(this.#site.installation, file);
    return file;
  }
}
