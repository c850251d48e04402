// `pointsman sandbox` as a person runs it: a process of its own that reports, and a second command that breaks things.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findFreePorts } from '../sockets/free-ports.ts';
import { waitUntil } from '../waiting/wait.ts';
import { runPointsman } from './run-program.ts';
import type { Ended } from './run-program.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const START_WITHIN_MS = 60_000;
const END_WITHIN_MS = 30_000;

export class SandboxProcess {
  readonly write: string;
  readonly read: string;
  readonly admin: string;
  readonly control: string;
  readonly #child: ChildProcess;
  #ended: number | string | undefined;
  #output = '';

  private constructor(child: ChildProcess, addresses: readonly string[]) {
    const [write = '', read = '', admin = '', control = ''] = addresses;
    this.write = `postgresql://app:app@${write}/app`;
    this.read = `postgresql://app:app@${read}/app`;
    this.admin = admin;
    this.control = control;
    this.#child = child;
    child.once('exit', (code, signal) => {
      this.#ended = code ?? signal ?? 'unknown';
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    }
  }

  /** Resolves when its banner is there. */
  static async start(flags: readonly string[] = []): Promise<SandboxProcess> {
    const ports = await findFreePorts(4, ['127.0.0.1']);
    const addresses = ports.map((port) => `127.0.0.1:${port}`);
    const names = ['--write', '--read', '--admin', '--control'];
    const listeners = names.flatMap((name, i) => [name, addresses[i] ?? '']);
    const child = spawn(process.execPath, [MAIN, 'sandbox', ...listeners, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = new SandboxProcess(child, addresses);
    try {
      await started.waitForOutput(/not for data/, START_WITHIN_MS);
    } catch (error) {
      await started.end('SIGKILL');
      throw error;
    }
    return started;
  }

  /** Everything it has told so far. */
  get output(): string {
    return this.#output;
  }

  waitForOutput(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
    const ask = async (): Promise<RegExpExecArray | undefined> => {
      const found = pattern.exec(this.#output);
      if (found === null && this.#ended !== undefined) throw new Error(`it ended with ${this.#ended}`);
      return found ?? undefined;
    };
    return waitUntil(String(pattern), ask, { timeoutMs, explain: async () => this.#output });
  }

  /** `pointsman sandbox ARGS…` in another terminal. */
  second(...args: readonly string[]): Promise<Ended> {
    return runPointsman(['sandbox', '--control', this.control, ...args]);
  }

  /** Sends the signal and resolves with how it ended: its exit code, or the signal. */
  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<number | string> {
    if (this.#ended === undefined) this.#child.kill(signal);
    return waitUntil('the end of the sandbox', async () => this.#ended, {
      timeoutMs: END_WITHIN_MS,
      explain: async () => this.#output,
    });
  }
}
