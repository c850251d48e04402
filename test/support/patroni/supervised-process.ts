// A command under supervise.py. The pipe to the supervisor is its lifeline: when this process dies, in
// whatever way, the supervisor reads EOF and ends everything below it.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Account } from './availability.ts';
import { waitUntil } from '../waiting/wait.ts';

export type SupervisedCommand = {
  readonly python: string;
  /** A copy that the account can read. */
  readonly script: string;
  readonly account: Account;
  /** Removed by the supervisor when the harness dies. */
  readonly clusterDir: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly command: readonly string[];
};

export class SupervisedProcess {
  /** The process of the command itself, not of its supervisor. */
  readonly pid: number;
  readonly #supervisor: ChildProcess;
  #isRunning = true;

  private constructor(supervisor: ChildProcess, pid: number, ended: Promise<void>) {
    this.#supervisor = supervisor;
    this.pid = pid;
    void this.#noteEnd(ended);
  }

  static async start(options: SupervisedCommand): Promise<SupervisedProcess> {
    const log = openSync(options.logFile, 'a');
    try {
      const arguments_ = [options.script, options.clusterDir, options.dataDir, ...options.command];
      const supervisor = spawn(options.python, arguments_, {
        ...options.account,
        cwd: options.clusterDir,
        // Nothing of ours: PATRONI_* and ETCD_* variables would override the configuration.
        env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', HOME: options.clusterDir },
        stdio: ['pipe', 'pipe', log],
        // A session of its own, so that ctrl-C reaches the test runner only.
        detached: true,
      });
      const ended = new Promise<void>((resolve) => {
        supervisor.once('exit', () => resolve());
        supervisor.once('error', () => resolve());
      });
      supervisor.stdin?.on('error', () => undefined);
      return new SupervisedProcess(supervisor, await readPid(supervisor, options.logFile), ended);
    } finally {
      closeSync(log);
    }
  }

  isRunning(): boolean {
    return this.#isRunning;
  }

  async #noteEnd(ended: Promise<void>): Promise<void> {
    await ended;
    this.#isRunning = false;
  }

  /** To the command alone. */
  signal(signal: NodeJS.Signals): void {
    if (this.#isRunning) process.kill(this.pid, signal);
  }

  /** SIGKILL of the whole tree at once. */
  async kill(): Promise<void> {
    this.#supervisor.stdin?.end('k');
    await waitUntil(`end of process ${this.pid} and its tree`, () => Promise.resolve(!this.#isRunning), {
      timeoutMs: 10_000,
      everyMs: 2,
    });
  }
}

function readPid(supervisor: ChildProcess, logFile: string): Promise<number> {
  return new Promise((resolve, reject) => {
    supervisor.once('error', reject);
    if (supervisor.stdout === null) throw new Error('the supervisor has no output pipe');
    const lines = createInterface({ input: supervisor.stdout });
    lines.once('line', (line) => resolve(Number(line)));
    lines.once('close', () => reject(new Error(`the supervisor ended at once, see ${logFile}`)));
  });
}
