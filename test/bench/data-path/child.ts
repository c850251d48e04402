// The child processes of the benchmark: pinned, read line by line, and ended by their own id, at the latest with this
// process.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The cores for the process, as taskset lists them; all when undefined. */
  readonly cores?: string | undefined;
  /** Runs the process as nobody, because some programs refuse to run as root. */
  readonly isUnprivileged?: boolean;
}

const NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups'];

export class Child implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #closed: Promise<number | string>;

  constructor({ command, args, env, cores, isUnprivileged = false }: Start) {
    const drop = isUnprivileged && process.getuid?.() === 0 ? NOBODY : [];
    const pinned = cores === undefined ? [] : ['taskset', '-c', cores];
    const argv = ['--pdeathsig=KILL', ...drop, ...pinned, command, ...args];
    this.#name = command;
    this.#process = spawn('setpriv', argv, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...env },
    });
    const { stdin, stdout, stderr } = this.#process;
    if (stdin === null || stdout === null || stderr === null) throw new Error(`${command}: no pipes`);
    stdin.on('error', () => undefined);
    for (const stream of [stdout, stderr])
      createInterface({ input: stream }).on('line', (line) => this.lines.push(line));
    this.#closed = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(error.message));
      this.#process.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
  }

  get pid(): number {
    if (this.#process.pid === undefined) throw new Error(`${this.#name} did not start`);
    return this.#process.pid;
  }

  /** Resolves with the first result of `find` for a line, whether it is printed already or comes later. */
  async saying<T>(what: string, find: (line: string) => T | undefined, timeoutMs = 20_000): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    const ended = this.#closed.then((code) => ({ code }));
    for (let seen = 0; ;) {
      for (; seen < this.lines.length; seen += 1) {
        const found = find(this.lines[seen] ?? '');
        if (found !== undefined) return found;
      }
      const state = await Promise.race([ended, tick()]);
      if (seen < this.lines.length) continue;
      if (state !== undefined) throw new Error(this.#told(`ended (${state.code}) before ${what}`));
      if (performance.now() > deadline) throw new Error(this.#told(`no ${what} within ${timeoutMs} ms`));
    }
  }

  /** Resolves when the process has ended with code 0. */
  async done(): Promise<readonly string[]> {
    const code = await this.#closed;
    if (code !== 0) throw new Error(this.#told(`ended with ${code}`));
    return this.lines;
  }

  /** Closes standard input, which ends a process that reads it. */
  release(): void {
    this.#process.stdin?.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#closed;
  }

  #told(what: string): string {
    return [`${this.#name}: ${what}`, ...this.lines.slice(-20)].join('\n');
  }
}

async function tick(): Promise<undefined> {
  await delay(10);
  return undefined;
}

/** Resolves with the output of a command; rejects when it fails. */
export async function run(start: Start): Promise<readonly string[]> {
  await using child = new Child(start);
  child.release();
  return await child.done();
}

/** Resolves when the port accepts; rejects with the last error after the timeout. */
export async function whenListening(port: number, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const socket = connect({ host: '127.0.0.1', port });
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await tick();
    } finally {
      socket.destroy();
    }
  }
}
